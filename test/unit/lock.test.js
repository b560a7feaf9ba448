import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownedContent, ownerWords, processStart, takeOwnership } from '../../lib/base/lock.js'
import { withUndo } from '../../lib/base/undo.js'
import { readState } from '../../lib/servers/embedded.js'
import { ownFolder } from '../helpers/programs.js'

/** @import { TestContext } from 'node:test' */

const sleeper = async (/** @type {TestContext} */ t) => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

test('a file has one living owner, and a dead one does not count', async (t) => {
  const folder = ownFolder(t, 'lock')
  const file = join(folder, 'lock')
  assert.equal(ownedContent(file), null)
  const child = await sleeper(t)
  const pid = Number(child.pid)
  const owner = { ownerPid: pid, ownerStarted: processStart(pid), ownerHost: hostname() }
  writeFileSync(file, JSON.stringify(owner))
  assert.equal(takeOwnership(file), false)
  assert.equal(ownerWords(file), `process ${pid}`)
  child.kill('SIGKILL')
  await once(child, 'close')
  assert.equal(takeOwnership(file, { what: 'mine' }), true)
  assert.equal(ownedContent(file).what, 'mine')
  assert.equal(takeOwnership(file), false, 'one at a time')
  assert.deepEqual(readdirSync(folder), ['lock'])
})

test('of an owner on another host nothing is known', (t) => {
  const file = join(ownFolder(t, 'lock'), 'lock')
  writeFileSync(file, JSON.stringify({ ownerPid: 1, ownerStarted: '1', ownerHost: 'elsewhere' }))
  assert.equal(takeOwnership(file), false)
  assert.match(ownerWords(file), /^process 1 on elsewhere \(if it has ended, remove .*lock\)$/)
})

for (const text of ['', 'null', '5', '{}', '{"ownerPid":1}', '{"ownerHost":5}'])
  test(`what holds ${JSON.stringify(text)} is nobody's`, (t) => {
    const file = join(ownFolder(t, 'lock'), 'lock')
    writeFileSync(file, text)
    assert.equal(takeOwnership(file), true)
  })

test('a state file that says what no producer writes names itself and its fault', (t) => {
  const folder = join(ownFolder(t, 'state'), 'millrace')
  mkdirSync(folder, { mode: 0o700 })
  const node = { host: '127.0.0.1', port: 1, pid: 1, role: 'master', shard: 1 }
  const state = {
    ...{ address: '127.0.0.1:1', endpoints: [node], access: { password: 'x' }, cluster: false },
    ...{ nodes: [node], dir: '/x' },
  }
  const file = join(folder, 'single.json')
  const owner = { ownerPid: process.pid, ownerStarted: processStart(process.pid) }
  const write = (/** @type {object} */ change) =>
    writeFileSync(file, JSON.stringify({ ...state, ...change, ...owner }))
  write({})
  assert.deepEqual(readState(folder, false), state)
  for (const [change, words] of /** @type {[object, RegExp][]} */ ([
    [{ nodes: null }, /single\.json is not what .* leaves: 'nodes' must be array; remove it$/],
    [{ nodes: [null] }, /'nodes\.0' must be object/],
    [{ endpoints: [{ host: 'h', port: 0 }] }, /'endpoints\.0\.port' must be >= 1/],
    [{ access: null }, /'access' must be object/],
  ])) {
    write(change)
    assert.throws(() => readState(folder, false), words)
  }
  assert.ok(existsSync(file) && readFileSync(file, 'utf8').length > 0)
})

test('undo: every step, the last one first, and the first error counts', async () => {
  const done = /** @type {string[]} */ ([])
  const step =
    (/** @type {string} */ name, /** @type {string} */ error = '') =>
    async () => {
      done.push(name)
      if (error) throw new Error(error)
    }
  /** Undoes these steps, the last one first. @param {(() => unknown)[]} steps @param {string} [error] of the work */
  const undone = (steps, error) =>
    withUndo(async (undo) => {
      for (const one of steps) undo(one)
      if (error) throw new Error(error)
      return 5
    })
  const atOnce = () => {
    done.push('d')
    throw new Error('of d')
  }
  assert.equal(await undone([step('a')]), 5)
  await assert.rejects(undone([step('b'), step('c', 'of c')], 'of the work'), /of the work/)
  await assert.rejects(undone([atOnce, step('e', 'of e')]), /of e/)
  assert.deepEqual(done, ['a', 'c', 'b', 'e', 'd'])
})

test('what is opened after the end of the work is undone at once, and nothing goes on with it', async () => {
  const done = /** @type {string[]} */ ([])
  let open = () => {}
  const opened = new Promise((/** @type {(value: void) => void} */ resolve) => (open = resolve))
  let late = Promise.resolve()
  await assert.rejects(
    withUndo(async (undo) => {
      late = (async () => {
        await opened
        undo(() => done.push('closed'))
        done.push('went on')
      })()
      throw new Error('interrupted')
    }),
    /interrupted/,
  )
  assert.deepEqual(done, [])
  open()
  await assert.rejects(late, /has ended/)
  assert.deepEqual(done, ['closed'])
})
