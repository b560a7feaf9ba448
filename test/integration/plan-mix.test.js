// `millrace calibrate FILE` and `millrace plan FILE`: what is planned for a mix at a rate, beside what a server then takes.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { calibration as calibrationKit } from '../../lib/answers/plan/calibration.js'
import { plan as planKit } from '../../lib/answers/plan/report.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { calibrate } from '../../lib/cli/calibration.js'
import { parseInfo } from '../../lib/wire/info.js'
import { loadModel } from '../../lib/workloads/own/load.js'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { refusedHere } from '../helpers/here.js'
import { ownFolder, until } from '../helpers/programs.js'
import { startServer, suiteScope } from '../helpers/servers.js'

/** @import { Scope, TestServer } from '../helpers/servers.js' */

const shop = readFileSync(fileURLToPath(new URL('../../docs/examples/shop.yaml', import.meta.url)), 'utf8')
// To weigh all node types takes seconds, and one test does.
const few = '--nodes cache.r7g.*'
const names = ['get', 'setex', 'hgetall', 'hset', 'zrevrange', 'zincrby']

/** @param {Scope} t @param {string} line */
const millrace = (t, line) => runCommand(t, line, { out: false })

/** What a server has counted, and the bytes of its answer. @param {TestServer} server */
const lookAt = async ({ redis }) => {
  const text = await redis.info('everything')
  const { fields, commands } = parseInfo(text)
  return {
    cpuS: Number(fields.used_cpu_user_main_thread) + Number(fields.used_cpu_sys_main_thread),
    keys: await redis.dbsize(),
    memory: Number(fields.used_memory) - Number(fields.mem_clients_normal),
    ...{ in: Number(fields.total_net_input_bytes), out: Number(fields.total_net_output_bytes) },
    calls: names.reduce((sum, name) => sum + (commands[name]?.calls ?? 0), 0),
    ...{ gets: commands.get?.calls ?? 0, infos: commands.info?.calls ?? 0, bytes: text.length },
  }
}

describe('a calibration of a mix, and a plan by it', () => {
  const scope = suiteScope()
  const root = ownFolder(scope, 'plan-mix')
  const file = join(root, 'shop.yaml')
  /** @type {string} */
  let path
  /** @type {any} */
  let calibration
  before(async () => {
    writeFileSync(file, `${shop}run: { rate: 2000, connections: 8 }\n`)
    const made = await calibrate(
      {
        ...{ strategies: [loadModel(file)], files: { shop: file }, where: null, seed: 1, out: root },
        ...{ cells: 3, proofs: 1, limitS: 0, windowS: 1, most: {} },
      },
      () => {},
      new AbortController().signal,
    )
    calibration = JSON.parse(JSON.stringify(made.document))
    path = join(made.folder, 'calibration.json')
  })

  test('it is whole, as its schema says, and has what the file has', () => {
    assert.equal(faultIn(calibration, calibrationKit.schema), null)
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), calibration)
    const [{ mix, cells, proof, memory }] = calibration.models
    assert.deepEqual([mix.rate, mix.connections, mix.commands.length], [2000, 8, 7])
    assert.deepEqual([cells.length, proof.length], [3, 1])
    assert.ok(memory.terms.length > 0)
    for (const { measured, rate } of cells) {
      assert.ok(measured.cpu_us.master > 0, `${rate}`)
      assert.deepEqual(Object.keys(measured.command_us).sort(), names.toSorted())
    }
  })

  test('what is planned for twice the rate is about what a replay then takes', async (t) => {
    const planned = await millrace(t, `plan ${file} --rate 200% ${few} --calibration ${path} --json`)
    assert.equal(planned.code, 0, planned.stderr)
    const plan = JSON.parse(planned.stdout)
    assert.equal(faultIn(plan, planKit.schema), null)
    assert.deepEqual([plan.asked.rate, plan.asked.part], [4000, 2])
    // 12,001 when sessions and carts have come and gone at the new rate.
    assert.equal(plan.asked.items, 12_001)
    const server = await startServer(t)
    const replay = startCommand(t, `replay ${file} --rate 200% --idle-cost never`, server)
    const whenAsked = (/** @type {number} */ gets) =>
      until(`${gets} GETs`, async () => {
        replay.assertRuns()
        const look = await lookAt(server)
        return look.gets > gets ? look : null
      })
    const [first, last] = [await whenAsked(1500), await whenAsked(9000)]
    replay.kill('SIGINT')
    await replay.ended
    const [{ per_item: each }] = plan.models
    const calls = last.calls - first.calls
    const cpuUs = ((last.cpuS - first.cpuS) * 1e6) / calls
    const { low, high } = each.cpu_us
    // A machine that does other work takes longer for the same; of operations that come late, many at once, less.
    assert.ok(cpuUs > low / 3 && cpuUs < high * 3, `${cpuUs} µs an operation, not ${low} to ${high}`)
    // INFO is the run's own and that of this test.
    const infoBytes = (last.infos - first.infos) * last.bytes
    const [into, out] = [(last.in - first.in) / calls, (last.out - first.out - infoBytes) / calls]
    assert.ok(Math.abs(into / each.bytes_in - 1) < 0.1, `${into} B in, not ${each.bytes_in}`)
    assert.ok(Math.abs(out / each.bytes_out - 1) < 0.1, `${out} B out, not ${each.bytes_out}`)
  })

  test('what is planned of memory is what a server has once the keys of the file are there', async (t) => {
    const planned = await millrace(t, `plan ${file} --rate 100% ${few} --calibration ${path} --json`)
    assert.equal(planned.code, 0, planned.stderr)
    const {
      asked,
      models: [{ per_item: each }],
    } = JSON.parse(planned.stdout)
    assert.equal(asked.items, 6001)
    const server = await startServer(t)
    await server.redis.config('RESETSTAT')
    const empty = await lookAt(server)
    await runCommand(t, `replay ${file} --with requests=20 --idle-cost never`, server)
    // Frees the histograms of commands, which a server has once, whatever its keys.
    await server.redis.config('RESETSTAT')
    const filled = await lookAt(server)
    const key = (filled.memory - empty.memory) / (filled.keys - empty.keys)
    assert.ok(Math.abs(key / each.memory_bytes - 1) < 0.15, `${key} B a key, not ${each.memory_bytes}`)
  })

  test('a plan without the file, as text and as a page', async (t) => {
    const page = join(ownFolder(t, 'page'), 'plan.html')
    const { code, stdout, stderr } = await millrace(
      t,
      `plan --rate 300% --replicas 1 --growth 5%/month --draw ${page} --calibration ${path}`,
    )
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^shop on 2 x cache\.\S+, [\d.]+ % of the busiest main thread, \$ [\d,.]+ a month\./)
    assert.match(stdout, /6,000 operations\/s \(300 % of what was profiled\), 18,001 keys/)
    assert.match(stdout, /^! a mix is planned as a whole/m)
    assert.match(readFileSync(page, 'utf8'), /Plan for 6,000 operations\/s/)
  })

  test('what cannot be planned of a mix: one line, and what to change', async () => {
    const other = join(root, 'other.yaml')
    writeFileSync(other, `name: shop\n${shop.replace('keys: 5000', 'keys: 6000')}`)
    for (const [line, words] of /** @type {const} */ ([
      [`plan ${file} --ttl 60s --calibration ${path}`, /^--ttl does not go with \S+shop\.yaml$/],
      [`plan ${file} --rate 2x --calibration ${path}`, /^--rate 2x: must be operations a second .* 200%$/],
      [
        `plan ${other} --rate 5k --calibration ${path}`,
        /is a calibration of shop as the file was then: calibrate again$/,
      ],
      [`plan ${other} --calibration ${path}`, /^--rate is missing: operations a second/],
      [`plan ${other} --rate 200% --calibration ${path}`, /^--rate 200%: the file has no run with a rate;/],
      [`calibrate ${file} --strategy list`, /^--strategy does not go with \S+shop\.yaml$/],
      [`plan ${file} hunter2`, /^unexpected word on the command line/],
    ])) {
      const { code, stderr } = await refusedHere(line)
      assert.deepEqual([code, stderr.trim().split('\n').length], [2, 1], stderr)
      assert.match(stderr.trim(), words)
    }
  })
})
