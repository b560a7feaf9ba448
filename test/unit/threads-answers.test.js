// How long a run waits for what its threads have counted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { threadSeconds } from '../../lib/threads/seconds.js'
import { startThreads } from '../../lib/threads/threads.js'

/** @import { TestContext } from 'node:test' */
/** @import { Warning } from '../../lib/measures/warnings.js' */

// Answers are late by as many milliseconds as its orders say; those of null never come.
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads'
    parentPort.on('message', ({ second, close }) => {
      if (second && workerData !== null)
        setTimeout(() => parentPort.postMessage({ second: { line: {} } }), workerData)
      if (close) parentPort.close()
    })
    parentPort.postMessage({ ready: { encodeMs: 0, encodedBytes: 0 } })`)}`,
)

/** @param {TestContext} t @param {(number | null)[]} lateMs of each thread */
const threadsWith = async (t, lateMs) => {
  /** @type {Warning[]} */
  const warnings = []
  const records = lateMs.map((ms) => Object.assign(threadSeconds(), { ms }))
  const threads = await startThreads(records, ({ ms }) => /** @type {any} */ (ms), {
    ...{ program, onSaid: () => {}, onLost: () => {} },
    warn: (warning) => warnings.push(warning),
  })
  t.after(threads.close)
  return { threads, warnings, lines: () => records.map((one) => one.takeLines().length) }
}

test('a thread that is late is not waited for in a second, and at the end it is', async (t) => {
  const { threads, warnings, lines } = await threadsWith(t, [0, 900])
  await threads.second()
  assert.deepEqual(lines(), [1, 0])
  await threads.second(new AbortController().signal)
  assert.deepEqual(lines(), [1, 2])
  assert.deepEqual(warnings, [])
})

test('a thread that says nothing at the end makes the run not valid', async (t) => {
  const { threads, warnings, lines } = await threadsWith(t, [0, null, 0])
  await threads.second()
  assert.equal(warnings.length, 0)
  const stop = new AbortController()
  const last = threads.second(stop.signal)
  stop.abort()
  await last
  assert.deepEqual(lines(), [2, 0, 2])
  assert.equal(warnings.length, 1)
  assert.deepEqual([warnings[0].code, warnings[0].invalidates], ['thread', true])
  assert.match(warnings[0].message, /^thread 2 of 3 did not answer at the end/)
})
