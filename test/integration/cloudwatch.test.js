// CloudWatch's figures from a real endpoint on loopback: added to a stored run, by the programs as a user starts them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ExitCode } from '../../lib/base/errors.js'
import { concludeRun } from '../../lib/cli/ending.js'
import { reportRun } from '../../lib/report/write-report.js'
import { resultDocument } from '../../lib/result/document.js'
import { testEnvironment } from '../../scripts/test.js'
import { awsEnv, noAwsFiles, startMoto } from '../helpers/moto.js'
import { peer } from '../helpers/peers.js'
import { assertDone, at, ownFolder, runProducer } from '../helpers/programs.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'
import { startServer } from '../helpers/servers.js'

const scriptPath = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url))
const minute = 60_000

/** A run of five minutes that ended an hour ago, half a minute off the clock's minutes. */
const beganMs = Math.floor(Date.now() / minute) * minute - 60 * minute + 30_000

/** @param {{ after(fn: () => void): void }} t @param {string[]} addresses @param {number} [startedMs] */
const storedRun = (t, addresses, startedMs = beganMs) => {
  const folder = join(ownFolder(t, 'cloudwatch'), 'run')
  mkdirSync(folder)
  const [node] = sampleParts().nodes
  const document = resultDocument(
    sampleParts({
      startedEpochMs: startedMs,
      durationS: 300,
      measuredS: 300,
      warmUpS: 0,
      nodes: addresses.map((address, i) => ({ ...node, address, role: i === 0 ? 'master' : 'replica' })),
    }),
  )
  writeFileSync(join(folder, 'run.json'), JSON.stringify(document))
  const [, second] = sampleRecord().seconds
  const lines = Array.from({ length: 300 }, (_, i) => ({
    ...second,
    at_ms: (i + 1) * 1000,
    nodes: addresses.map((address, shown) => ({
      ...second.nodes?.[0],
      address,
      role: shown === 0 ? 'master' : 'replica',
      engine_cpu_pct: (shown === 0 ? 70 : 30) + 8 * Math.sin(i / 7),
    })),
  }))
  writeFileSync(join(folder, 'intervals.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return { folder, document, stored: () => JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) }
}

/** @param {string[]} args @param {NodeJS.ProcessEnv} env @param {string} [script] */
const added = (args, env, script = 'cloudwatch.js') =>
  new Promise(
    (/** @type {(end: { code: number | null, stdout: string, stderr: string }) => void} */ resolve) => {
      const child = spawn(process.execPath, [scriptPath(script), ...args], {
        env: { ...testEnvironment(process.env), ...env },
      })
      let [stdout, stderr] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text) => {
        stderr += text
      })
      child.on('close', (code) => resolve({ code, stdout, stderr }))
    },
  )

/** A port that is free now, and that no program is given which asks for any: the recipe listens on it seconds later. @returns {Promise<number>} */
const quietPort = async (port = 20_000 + (process.pid % 10_000)) => {
  const listener = createServer()
  const isFree = await new Promise((resolve) => {
    listener.once('error', () => resolve(false))
    listener.listen(port, '127.0.0.1', () => resolve(true))
  })
  listener.close()
  return isFree ? port : quietPort(port + 1)
}

const names = ['items-001', 'items-002'].map((id) => `${id}.abc123.0001.euw1.cache.amazonaws.com:6379`)
const dimensions = (/** @type {string} */ id) => ({ CacheClusterId: id, CacheNodeId: '0001' })
/** A point in the middle of every minute that the run touches. @param {(at: number) => number} value @returns {[number, number][]} */
const everyMinute = (value) =>
  Array.from({ length: 6 }, (_, i) => [beganMs - 30_000 + i * minute + 15_000, value(i)])

describe('CloudWatch on loopback', { concurrency: 2 }, () => {
  test('whole minutes of every node, by the names of the endpoints', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    // The edge minutes hold something else besides: they are far off.
    const cpu = everyMinute((i) => (i === 0 || i === 5 ? 99 : 40 + i))
    await moto.put('CPUUtilization', dimensions('items-001'), cpu)
    await moto.put(
      'EngineCPUUtilization',
      dimensions('items-001'),
      everyMinute(() => 70),
    )
    await moto.put(
      'IsMaster',
      dimensions('items-001'),
      everyMinute(() => 1),
    )
    await moto.put(
      'CPUUtilization',
      dimensions('items-002'),
      everyMinute(() => 20),
    )
    await moto.put(
      'EngineCPUUtilization',
      dimensions('items-002'),
      everyMinute(() => 30),
    )
    await moto.put(
      'SortedSetBasedCmds',
      dimensions('items-001'),
      everyMinute(() => 6000),
    )
    const run = storedRun(t, names)
    const { code, stdout, stderr } = await added([run.folder], moto.env)
    assert.equal(code, 0, stderr)
    const { cloudwatch, ...rest } = run.stored()
    assert.deepEqual(rest, JSON.parse(JSON.stringify(run.document)), 'the run itself is as it was')
    assert.equal(cloudwatch.region, 'eu-west-1')
    assert.equal(cloudwatch.settled, true)
    assert.deepEqual(cloudwatch.notes, [])
    const [master, replica] = cloudwatch.nodes
    assert.deepEqual([master.id, master.address, master.role], ['items-001', names[0], 'master'])
    assert.deepEqual([replica.id, replica.address], ['items-002', names[1]])
    assert.deepEqual(master.points.CPUUtilization, [
      [30_000, 41],
      [90_000, 42],
      [150_000, 43],
      [210_000, 44],
    ])
    assert.equal(master.means.CPUUtilization, 42.5)
    assert.equal(master.means.EngineCPUUtilization, 70)
    assert.equal(master.means.SortedSetBasedCmds, 6000)
    assert.equal(replica.means.CPUUtilization, 20)
    assert.match(stdout, /items-001[^%]*(?:%[^%]*){2}CPUUtilization 42\.5 %/)
    assert.match(stdout, /items-002[^%]*(?:%[^%]*){2}CPUUtilization 20\.0 %/)
  })

  test('throttled, it asks again until it is answered', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    for (const metric of ['CPUUtilization', 'EngineCPUUtilization'])
      await moto.put(
        metric,
        dimensions('items-001'),
        everyMinute(() => 20),
      )
    const answers = /** @type {number[]} */ ([])
    const busy = createServer(async (question, answer) => {
      const status = answers.length < 3 ? 429 : 200
      answers.push(status)
      if (status === 429) return answer.writeHead(429).end()
      const { method, headers } = question
      const whole = await fetch(new URL(`${question.url}`, moto.endpoint), {
        ...{ method, headers: /** @type {Record<string, string>} */ (headers) },
        body: await buffer(question),
      })
      answer.writeHead(whole.status, Object.fromEntries(whole.headers))
      answer.end(Buffer.from(await whole.arrayBuffer()))
    })
    t.after(() => busy.close())
    const port = await new Promise((resolve) => {
      busy.listen(0, '127.0.0.1', () =>
        resolve(/** @type {import('node:net').AddressInfo} */ (busy.address()).port),
      )
    })
    const run = storedRun(t, names.slice(0, 1))
    const { code, stderr } = await added([run.folder], awsEnv(`http://127.0.0.1:${port}`))
    assert.equal(code, 0, stderr)
    assert.equal(run.stored().cloudwatch.nodes[0].means.CPUUtilization, 20)
    assert.deepEqual(answers.slice(0, 4), [429, 429, 429, 200])
  })

  test('the recipe of the documentation', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const page = readFileSync(fileURLToPath(new URL('../../docs/elasticache.md', import.meta.url)), 'utf8')
    const [, recipe] = /<!-- shell: moto -->\n```sh\n([\s\S]*?)```/.exec(page) ?? []
    assert.ok(recipe)
    const run = storedRun(t, ['127.0.0.1:6379'], Math.floor(Date.now() / minute) * minute - 10 * minute)
    const bin = ownFolder(t, 'recipe')
    const millrace = fileURLToPath(new URL('../../lib/cli/millrace.js', import.meta.url))
    for (const [name, program] of [
      ['npx', `shift\nexec "${process.execPath}" "${millrace}"`],
      ['python3', `exec "${python}"`],
    ])
      writeFileSync(join(bin, name), `#!/bin/sh\n${program} "$@"\n`, { mode: 0o755 })
    const port = await quietPort()
    const env = {
      ...testEnvironment(process.env),
      PATH: `${bin}:${process.env.PATH}`,
      ...noAwsFiles,
      MOTO_PORT: String(port),
      RUN: run.folder,
    }
    const child = spawn('sh', ['-c', recipe], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part) => {
        text += part
      })
    assert.equal(await new Promise((resolve) => child.once('close', resolve)), 0, text)
    const [node] = run.stored().cloudwatch.nodes
    assert.equal(node.id, 'items-001')
    assert.deepEqual([node.means.CPUUtilization, node.means.EngineCPUUtilization], [20, 35])
  })

  test('its minutes are drawn beside our seconds: in the page that stood, as SVG and as PNG', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    for (const [id, host, engine] of /** @type {const} */ ([
      ['items-001', 36, 70],
      ['items-002', 17, 30],
    ])) {
      await moto.put(
        'CPUUtilization',
        dimensions(id),
        everyMinute((i) => host + i),
      )
      await moto.put(
        'EngineCPUUtilization',
        dimensions(id),
        everyMinute((i) => engine + i),
      )
    }
    const run = storedRun(t, names)
    const file = (/** @type {string} */ name) => join(run.folder, name)
    await reportRun(run.folder)
    assert.equal(existsSync(file('charts/cloudwatch.svg')), false)

    const { code, stderr } = await added([run.folder], moto.env)
    assert.equal(code, 0, stderr)
    const page = readFileSync(file('report.html'), 'utf8')
    assert.match(page, /<h2>CloudWatch beside our own figures<\/h2>/)
    assert.match(page, /<button type="button">CPUUtilization<\/button>/)
    const svg = readFileSync(file('charts/cloudwatch.svg'), 'utf8')
    for (const id of ['items-001', 'items-002'])
      for (const what of ['engine, each second', 'EngineCPUUtilization', 'CPUUtilization'])
        assert.ok(svg.includes(`${id}: ${what}<`), `${id} ${what}`)
    assert.match(svg, /engine: % of one core, host: % of all vCPUs/)

    const all = await added([run.folder], {}, 'report.js')
    assert.equal(all.code, 0, all.stderr)
    const png = readFileSync(file('charts/cloudwatch.png'))
    assert.equal(png.subarray(1, 4).toString(), 'PNG')
    assert.match(readFileSync(file('report.md'), 'utf8'), /\]\(charts\/cloudwatch\.svg\)/)
  })

  test('of the runs of an experiment: they stand in its table and in comparisons', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    for (const id of ['items-001', 'items-002'])
      for (const [metric, pct] of /** @type {const} */ ([
        ['CPUUtilization', 30],
        ['EngineCPUUtilization', 50],
      ]))
        await moto.put(
          metric,
          dimensions(id),
          everyMinute(() => pct),
        )
    const { document } = storedRun(t, names)
    const folder = ownFolder(t, 'experiment')
    const experiment = sampleExperiment()
    for (const run of experiment.rows.flatMap(({ runs }) => runs)) {
      mkdirSync(join(folder, run), { recursive: true })
      writeFileSync(join(folder, run, 'run.json'), JSON.stringify(document))
    }
    writeFileSync(join(folder, 'experiment.json'), JSON.stringify(experiment))
    const { code, stderr } = await added([folder], moto.env)
    assert.equal(code, 0, stderr)
    const stored = JSON.parse(readFileSync(join(folder, 'experiment.json'), 'utf8'))
    for (const { figures } of stored.rows) {
      assert.deepEqual(figures['cloudwatch.master.cpu_pct'].samples, [30])
      assert.deepEqual(figures['cloudwatch.replica.engine_cpu_pct'].samples, [50])
    }
    const compared = await added([folder, folder, '--all'], {}, 'compare.js')
    assert.match(compared.stdout, /cloudwatch\.master\.cpu_pct +30 % +30 %/)
  })

  test('a group by its id: its members are those that publish', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    for (const id of ['items-0001-001', 'items-0002-001', 'others-0001-001', 'items-more-001']) {
      await moto.put(
        'CPUUtilization',
        dimensions(id),
        everyMinute(() => 10),
      )
      await moto.put(
        'EngineCPUUtilization',
        dimensions(id),
        everyMinute(() => 20),
      )
    }
    const run = storedRun(t, ['10.0.0.1:6379'])
    const args = ['--replication-group', 'items', '--aws-region', 'eu-west-1', run.folder]
    const { code, stdout, stderr } = await added(args, moto.env)
    assert.equal(code, 0, stderr)
    const ids = run.stored().cloudwatch.nodes.map((/** @type {any} */ { id }) => id)
    assert.deepEqual(ids, ['items-0001-001', 'items-0002-001'])
    assert.match(stdout, /CloudWatch +items-0001-001 · CPUUtilization 10\.0 %/)
  })

  test('a serverless cache: what exists, and a word on what does not', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    const dimension = { clusterId: 'items' }
    await moto.put(
      'ElastiCacheProcessingUnits',
      dimension,
      everyMinute(() => 500),
    )
    await moto.put(
      'ThrottledCmds',
      dimension,
      everyMinute(() => 3),
    )
    const run = storedRun(t, ['items-ab12cd.serverless.euw1.cache.amazonaws.com:6379'])
    const { code, stdout, stderr } = await added([run.folder], moto.env)
    assert.equal(code, 0, stderr)
    const [cache] = run.stored().cloudwatch.nodes
    assert.deepEqual(
      [cache.id, cache.kind, cache.means.ElastiCacheProcessingUnits],
      ['items', 'serverless', 500],
    )
    assert.match(stderr, /no nodes and publishes no CPU/)
    assert.match(stdout, /500 processing units a minute/)
  })

  test('what is missing is said in a line each, and the run stays as it was', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    const noRegion = storedRun(t, ['10.0.0.1:6379'])
    const first = await added(['--cache-clusters', 'a-001', noRegion.folder], moto.env)
    assert.equal(first.code, 3)
    assert.match(first.stderr, /no region: give --aws-region, or set AWS_REGION/)
    assert.deepEqual(noRegion.stored(), JSON.parse(JSON.stringify(noRegion.document)))

    const noGroup = await added(
      ['--aws-region', 'eu-west-1', '--replication-group', 'nobody', noRegion.folder],
      moto.env,
    )
    assert.match(noGroup.stderr, /no node of the replication group nobody publishes there/)
    const noName = await added(['--aws-region', 'eu-west-1', noRegion.folder], moto.env)
    assert.match(noName.stderr, /10\.0\.0\.1 is no name of an ElastiCache endpoint/)
    const noPoints = await added(
      ['--aws-region', 'eu-west-1', '--cache-clusters', 'a-001', noRegion.folder],
      moto.env,
    )
    assert.equal(noPoints.code, 0)
    assert.match(noPoints.stderr, /no points of a-001: wrong id or region/)
    assert.equal(noRegion.stored().cloudwatch.settled, false)

    const { AWS_ACCESS_KEY_ID: _, ...anonymous } = moto.env
    const noKeys = await added(
      ['--aws-region', 'eu-west-1', '--cache-clusters', 'a-001', noRegion.folder],
      anonymous,
    )
    assert.match(noKeys.stderr, /no credentials: set AWS_PROFILE/)
    for (const { stderr } of [first, noGroup, noName, noKeys])
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
  })

  test('the producer asks when it was told to, and a short run only costs a line', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const moto = await startMoto(t, python)
    const server = await startServer(t)
    const line =
      '-q 100 --duration 1 --no-report --json --cloudwatch --cache-clusters a-001 --aws-region eu-west-1'
    const { code, stdout, stderr, document } = await runProducer(t, line, {
      env: { ...at(server), ...moto.env },
    })
    assertDone({ code, document, stderr })
    assert.deepEqual(JSON.parse(stdout), document)
    assert.match(stderr, /no whole minute lies in the measured time/)
  })
})

describe('an interrupt while CloudWatch is waited for', () => {
  /** A CloudWatch that takes questions and never answers. @param {import('node:test').TestContext} t */
  const silent = async (t) => {
    let asked = () => {}
    const whenAsked = new Promise((resolve) => {
      asked = () => resolve(undefined)
    })
    const server = createServer(() => asked())
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const env = awsEnv(`http://127.0.0.1:${port}`)
    Object.assign(process.env, env)
    t.after(() => {
      for (const name of Object.keys(env)) delete process.env[name]
    })
    return { whenAsked }
  }

  for (const interrupted of [false, true])
    test(`of a run that was ${interrupted ? '' : 'not '}interrupted before`, async (t) => {
      const { whenAsked } = await silent(t)
      const { folder, document, stored } = storedRun(t, names)
      const [stop, stopNow] = [new AbortController(), new AbortController()]
      if (interrupted) stop.abort()
      /** @type {string[]} */
      const warned = []
      const concluded = concludeRun(
        { ...document, interrupted },
        {
          settings: /** @type {any} */ ({
            cloudwatch: true,
            awsRegion: 'eu-west-1',
            report: false,
            thresholds: [],
          }),
          results: { folder, finish: async () => {}, fault: () => null, redact: (data) => data },
          screen: /** @type {any} */ ({
            say: () => {},
            warn: (/** @type {any} */ { message }) => warned.push(message),
            result: () => {},
          }),
          stop: stop.signal,
          stopNow: stopNow.signal,
        },
      )
      await whenAsked
      const next = interrupted ? stopNow : stop
      next.abort()
      assert.equal(await concluded, interrupted ? ExitCode.interrupted : ExitCode.done)
      assert.deepEqual(warned, [
        'CloudWatch: its figures were not waited for; scripts/cloudwatch.js adds them later',
      ])
      assert.deepEqual(stored(), JSON.parse(JSON.stringify(document)))
    })
})
