// CloudWatch's figures from a real endpoint on loopback, added to stored runs.
import assert from 'node:assert/strict'
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
import { atEnd } from '../helpers/at-end.js'
import { runCommand } from '../helpers/command-here.js'
import { awsEnv, noAwsFiles, startMoto } from '../helpers/moto.js'
import { peer } from '../helpers/peers.js'
import { assertDone, ownFolder, startOther } from '../helpers/programs.js'
import { sampleExperiment, sampleRecord } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'
import { portOf, startServer, suiteScope } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */

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

/** The SDK of AWS reads these from the process, until the test ends. @param {TestContext} t @param {NodeJS.ProcessEnv} env */
const withEnv = (t, env) => {
  for (const [name, text] of Object.entries(env)) {
    const before = process.env[name]
    const set = (/** @type {string | undefined} */ value) => {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    set(text)
    atEnd(t, () => set(before))
  }
}

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
/** A point in the middle of every minute that the run touches. @param {(at: number) => number} value @returns {[number, number][]} */
const everyMinute = (value) =>
  Array.from({ length: 6 }, (_, i) => [beganMs - 30_000 + i * minute + 15_000, value(i)])

describe('CloudWatch on loopback', { concurrency: 2 }, () => {
  describe('of stored runs', { concurrency: 1 }, () => {
    /** @type {Awaited<ReturnType<typeof startMoto>>} */
    let moto
    const scope = suiteScope()
    /** The tests share one; false: it is not set up. @param {TestContext} t */
    const hasMoto = async (t) => {
      const python = peer(t, 'moto')
      if (!python) return false
      moto ??= await startMoto(scope, python)
      await moto.clear()
      withEnv(t, moto.env)
      return true
    }
    /** Values of every minute, by metric, of the node of a cluster. @param {string} id @param {Record<string, number | ((at: number) => number)>} metrics */
    const put = (id, metrics) => putOf({ CacheClusterId: id, CacheNodeId: '0001' }, metrics)
    /** @param {Record<string, string>} dimensions @param {Record<string, number | ((at: number) => number)>} metrics */
    const putOf = async (dimensions, metrics) => {
      for (const [metric, value] of Object.entries(metrics))
        await moto.put(metric, dimensions, everyMinute(typeof value === 'number' ? () => value : value))
    }
    /** @param {TestContext} t @param {string[]} words */
    const added = (t, ...words) => runCommand(t, ['cloudwatch', ...words], { out: false })

    test('whole minutes of every node, by the names of the endpoints, and drawn beside our seconds', async (t) => {
      if (!(await hasMoto(t))) return
      // The edge minutes hold something else besides: they are far off.
      await put('items-001', {
        ...{ CPUUtilization: (i) => (i === 0 || i === 5 ? 99 : 40 + i), EngineCPUUtilization: 70 },
        ...{ IsMaster: 1, SortedSetBasedCmds: 6000 },
      })
      await put('items-002', { CPUUtilization: 20, EngineCPUUtilization: 30 })
      const run = storedRun(t, names)
      const file = (/** @type {string} */ name) => join(run.folder, name)
      await reportRun(run.folder)
      assert.equal(existsSync(file('charts/cloudwatch.svg')), false)
      const { code, stdout, stderr } = await added(t, run.folder)
      assert.equal(code, 0, stderr)
      const { cloudwatch, ...rest } = run.stored()
      assert.deepEqual(rest, JSON.parse(JSON.stringify(run.document)), 'the run itself is as it was')
      assert.equal(cloudwatch.region, 'eu-west-1')
      assert.equal(cloudwatch.settled, true)
      assert.deepEqual(cloudwatch.notes, [])
      const [master, replica] = cloudwatch.nodes
      assert.deepEqual([master.id, master.address, master.role], ['items-001', names[0], 'master'])
      assert.deepEqual([replica.id, replica.address], ['items-002', names[1]])
      assert.equal(master.points.CPUUtilization.join(' '), '30000,41 90000,42 150000,43 210000,44')
      assert.equal(master.means.CPUUtilization, 42.5)
      assert.equal(master.means.EngineCPUUtilization, 70)
      assert.equal(master.means.SortedSetBasedCmds, 6000)
      assert.equal(replica.means.CPUUtilization, 20)
      assert.match(stdout, /CPUUtilization +\S*items-001\S* 42\.5 %,\s+\S*items-002\S* 20\.0 %/)

      const page = readFileSync(file('report.html'), 'utf8')
      assert.match(page, /<h2>CloudWatch beside our own figures<\/h2>/)
      assert.match(page, /<button type="button">CPUUtilization<\/button>/)
      const svg = readFileSync(file('charts/cloudwatch.svg'), 'utf8')
      for (const id of ['items-001', 'items-002'])
        for (const what of ['engine, each second', 'EngineCPUUtilization', 'CPUUtilization'])
          assert.ok(svg.includes(`${id}: ${what}<`), `${id} ${what}`)
      assert.match(svg, /engine: % of one core, host: % of all vCPUs/)
      const all = await runCommand(t, ['report', run.folder], { out: false })
      assert.equal(all.code, 0, all.stderr)
      const png = readFileSync(file('charts/cloudwatch.png'))
      assert.equal(png.subarray(1, 4).toString(), 'PNG')
      assert.match(readFileSync(file('report.md'), 'utf8'), /\]\(charts\/cloudwatch\.svg\)/)
    })

    test('throttled, it asks again until it is answered', async (t) => {
      if (!(await hasMoto(t))) return
      await put('items-001', { CPUUtilization: 20, EngineCPUUtilization: 20 })
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
      withEnv(t, awsEnv(`http://127.0.0.1:${await portOf(t, busy)}`))
      const run = storedRun(t, names.slice(0, 1))
      const { code, stderr } = await added(t, run.folder)
      assert.equal(code, 0, stderr)
      assert.equal(run.stored().cloudwatch.nodes[0].means.CPUUtilization, 20)
      assert.deepEqual(answers.slice(0, 4), [429, 429, 429, 200])
    })

    test('of the runs of an experiment: they are in its table and in comparisons', async (t) => {
      if (!(await hasMoto(t))) return
      for (const id of ['items-001', 'items-002'])
        await put(id, { CPUUtilization: 30, EngineCPUUtilization: 50 })
      const { document } = storedRun(t, names)
      const folder = ownFolder(t, 'experiment')
      const experiment = sampleExperiment()
      for (const run of experiment.rows.flatMap(({ runs }) => runs)) {
        mkdirSync(join(folder, run), { recursive: true })
        writeFileSync(join(folder, run, 'run.json'), JSON.stringify(document))
      }
      writeFileSync(join(folder, 'experiment.json'), JSON.stringify(experiment))
      const { code, stderr } = await added(t, folder)
      assert.equal(code, 0, stderr)
      const stored = JSON.parse(readFileSync(join(folder, 'experiment.json'), 'utf8'))
      for (const { figures } of stored.rows) {
        assert.deepEqual(figures['cloudwatch.master.cpu_pct'].samples, [30])
        assert.deepEqual(figures['cloudwatch.replica.engine_cpu_pct'].samples, [50])
      }
      const compared = await runCommand(t, ['diff', folder, folder, '--verbose'], { out: false })
      assert.match(compared.stdout, /cloudwatch\.master\.cpu_pct +30 % +30 %/)
    })

    test('a group by its id: its members are those that publish', async (t) => {
      if (!(await hasMoto(t))) return
      for (const id of ['items-0001-001', 'items-0002-001', 'others-0001-001', 'items-more-001'])
        await put(id, { CPUUtilization: 10, EngineCPUUtilization: 20 })
      const run = storedRun(t, ['10.0.0.1:6379'])
      const of = ['--replication-group', 'items', '--region', 'eu-west-1']
      const { code, stdout, stderr } = await added(t, ...of, run.folder)
      assert.equal(code, 0, stderr)
      const ids = run.stored().cloudwatch.nodes.map((/** @type {any} */ { id }) => id)
      assert.deepEqual(ids, ['items-0001-001', 'items-0002-001'])
      assert.match(stdout, /CloudWatch +items-0001-001 · CPUUtilization 10\.0 %/)
    })

    test('a serverless cache: what exists, and a word on what does not', async (t) => {
      if (!(await hasMoto(t))) return
      await putOf({ clusterId: 'items' }, { ElastiCacheProcessingUnits: 500, ThrottledCmds: 3 })
      const run = storedRun(t, ['items-ab12cd.serverless.euw1.cache.amazonaws.com:6379'])
      const { code, stdout, stderr } = await added(t, run.folder)
      assert.equal(code, 0, stderr)
      const [cache] = run.stored().cloudwatch.nodes
      assert.deepEqual(
        [cache.id, cache.kind, cache.means.ElastiCacheProcessingUnits],
        ['items', 'serverless', 500],
      )
      assert.match(stderr, /no nodes and publishes no CPU/)
      assert.match(stdout, /500 processing units a minute/)
    })

    test('what is missing is reported in a line each, and the run stays as it was', async (t) => {
      if (!(await hasMoto(t))) return
      const run = storedRun(t, ['10.0.0.1:6379'])
      const region = ['--region', 'eu-west-1']
      const cluster = ['--cache-clusters', 'a-001']
      const noRegion = await added(t, ...cluster, run.folder)
      assert.equal(noRegion.code, 3)
      assert.match(noRegion.stderr, /no region: give --region, or set AWS_REGION/)
      assert.deepEqual(run.stored(), JSON.parse(JSON.stringify(run.document)))

      const noGroup = await added(t, ...region, '--replication-group', 'absent', run.folder)
      assert.match(noGroup.stderr, /no node of the replication group absent publishes there/)
      const noName = await added(t, ...region, run.folder)
      assert.match(noName.stderr, /10\.0\.0\.1 is not the name of an ElastiCache endpoint/)
      const noPoints = await added(t, ...region, ...cluster, run.folder)
      assert.equal(noPoints.code, 0)
      assert.match(noPoints.stderr, /no points of a-001: wrong id or region/)
      assert.equal(run.stored().cloudwatch.settled, false)

      withEnv(t, { AWS_ACCESS_KEY_ID: undefined })
      const noKeys = await added(t, ...region, ...cluster, run.folder)
      assert.match(noKeys.stderr, /no credentials: set AWS_PROFILE/)
      for (const { stderr } of [noRegion, noGroup, noName, noKeys])
        assert.equal(stderr.trim().split('\n').length, 1, stderr)
    })

    test('the producer asks when it was told to, and a short run only costs a line', async (t) => {
      if (!(await hasMoto(t))) return
      const server = await startServer(t)
      const line =
        'write -q 100 --duration 1 --no-report --json --cloudwatch --cache-clusters a-001 --region eu-west-1'
      const { code, stdout, stderr, document } = await runCommand(t, line, server)
      assertDone({ code, document, stderr })
      const { summary, ...printed } = JSON.parse(stdout)
      assert.deepEqual(printed, document)
      assert.match(summary[0], /VALID/)
      assert.match(stderr, /no whole minute lies in the measured time/)
    })
  })

  test('the recipe of the documentation', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const page = readFileSync(
      fileURLToPath(new URL('../../docs/reference/elasticache.md', import.meta.url)),
      'utf8',
    )
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
      ...{ ...testEnvironment(process.env), PATH: `${bin}:${process.env.PATH}`, ...noAwsFiles },
      ...{ MOTO_PORT: String(port), RUN: run.folder },
    }
    const { code, stderr } = await startOther(t, 'sh', ['-c', recipe], { env }).ended
    assert.equal(code, 0, stderr)
    const [node] = run.stored().cloudwatch.nodes
    assert.equal(node.id, 'items-001')
    assert.deepEqual([node.means.CPUUtilization, node.means.EngineCPUUtilization], [20, 35])
  })
})

describe('an interrupt while CloudWatch is waited for', () => {
  /** A CloudWatch that takes questions and never answers. @param {TestContext} t */
  const silent = async (t) => {
    let asked = () => {}
    const whenAsked = new Promise((resolve) => {
      asked = () => resolve(undefined)
    })
    const server = createServer(() => asked())
    withEnv(t, awsEnv(`http://127.0.0.1:${await portOf(t, server)}`))
    t.after(() => server.closeAllConnections())
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
          settings: /** @type {any} */ ({ cloudwatch: true, awsRegion: 'eu-west-1', thresholds: [] }),
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
