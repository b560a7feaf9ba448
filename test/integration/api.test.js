// `import { run, startLocalServers } from 'millrace'`, as a program uses it, on servers of its own.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { MillraceError, OptionError, run, startLocalServers } from 'millrace'
import { faultIn } from '../../lib/base/json-schema.js'
import { publishedSchemas } from '../../scripts/readme/published-schemas.js'
import { until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { LocalServers, ProgressEvent, RunOptions } from 'millrace' */

const root = fileURLToPath(new URL('../..', import.meta.url))
const { 'run.schema.json': runSchema, 'intervals.schema.json': secondSchema } = publishedSchemas

describe('run() on local servers', () => {
  /** @type {LocalServers} */
  let servers
  before(async () => {
    servers = await startLocalServers()
  })
  after(() => servers.close())

  test('writers: a valid result as its schema says, seconds as theirs, no secret in either', async () => {
    /** @type {ProgressEvent[]} */
    const events = []
    const result = await run(
      {
        ...servers.options,
        quantity: 200,
        period: 100,
        intervals: 12,
        prefix: 'a:',
        threshold: ['items.failed<=0'],
      },
      { onProgress: (event) => events.push(event) },
    )
    assert.equal(faultIn(result, runSchema), null)
    assert.deepEqual(
      [result.kind, 'items' in result && result.items],
      [
        'producer',
        { offered: 2400, acked: 2400, failed: 0, uncertain: 0, dropped: 0, unsettled: 0, failed_by: {} },
      ],
    )
    assert.deepEqual(result.thresholds, [
      { threshold: 'items.failed<=0', name: 'items.failed', value: 0, passed: true },
    ])
    const seconds = events.filter(({ type }) => type === 'second')
    assert.ok(seconds.length > 0)
    for (const { type, ...line } of seconds) assert.equal(faultIn(line, secondSchema), null)
    const password = new URL(servers.options.url).password
    assert.ok(!JSON.stringify([result, events]).includes(password))
  })

  test('consumers read what writers wrote, beside them', async () => {
    const over = new AbortController()
    /** @type {() => void} */
    let begun = () => {}
    const isWriting = new Promise((resolve) => {
      begun = () => resolve(undefined)
    })
    const writing = run(
      { ...servers.options, quantity: 100, ttl: '600', prefix: 'b:' },
      { signal: over.signal, onProgress: ({ type }) => type === 'second' && begun() },
    )
    await Promise.race([isWriting, writing])
    const result = await run({
      command: 'read',
      ...servers.options,
      duration: '1s',
      period: 100,
      prefix: 'b:',
    }).finally(() => over.abort())
    assert.equal(faultIn(result, runSchema), null)
    assert.ok(/** @type {any} */ (result).fetches.items > 0)
    assert.ok(result.measures.some(({ name }) => name === 'fetches.duration_ms.p50'))
    await writing
  })

  test('an abort ends the load, and the result says so', async () => {
    const stopping = new AbortController()
    const result = await run(
      { ...servers.options, quantity: 100, prefix: 'c:' },
      { signal: stopping.signal, onProgress: ({ type }) => type === 'second' && stopping.abort() },
    )
    assert.equal(result.interrupted, true)
  })
})

test('wrong options reject, and name what to change', async () => {
  const host = '127.0.0.1'
  const refused = /** @type {[RunOptions, RegExp][]} */ ([
    [{}, /needs url or host; startLocalServers/],
    [{ host, quantity: 0 }, /--quantity must be a whole number/],
    [/** @type {any} */ ({ host, quantty: 5 }), /unknown option quantty of a run that writes/],
    [/** @type {any} */ ({ host, json: true }), /json is an option of the programs/],
    [/** @type {any} */ ({ host, command: 'delete' }), /command must be 'write' or 'read'/],
    [{ command: 'read', host, maxMembers: 5 }, /unknown option maxMembers of a run that reads/],
  ])
  for (const [options, message] of refused)
    await assert.rejects(run(options), (error) => {
      assert.ok(error instanceof OptionError && error instanceof MillraceError)
      assert.deepEqual([error.code, error.exitCode], ['OPTION', 2])
      assert.match(error.message, message)
      return true
    })
})

test('servers that are not there reject with their address', async () => {
  await assert.rejects(run({ url: 'redis://127.0.0.1:1', duration: '1s' }), /127\.0\.0\.1:1/)
})

test('a run that fails before its load leaves no connection and no timer', async (t) => {
  const server = await startServer(t)
  const left = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCP/.test(name)).length
  const before = left()
  const { host, port, password } = server
  const line = {
    strategy: /** @type {const} */ ('lookup-get'),
    fill: /** @type {const} */ ('populate'),
    items: 100,
  }
  await assert.rejects(run({ host, port, password, connections: 20, ...line }), /DEBUG command not allowed/)
  await until('all are closed', () => left() <= before)
})

test('the example of docs/reference/api.md prints its line and nothing else, and leaves no results', async () => {
  const page = readFileSync(`${root}/docs/reference/api.md`, 'utf8')
  const [, example] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  const had = existsSync(`${root}/results`)
  const args = ['--input-type=module', '-e', example]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: root,
    timeout: 240_000,
  })
  assert.match(stdout, /^(valid|not-valid) [\d.]+ us of server CPU per item\n$/)
  assert.doesNotMatch(stderr, /INFO|"level"/)
  assert.equal(existsSync(`${root}/results`), had)
})
