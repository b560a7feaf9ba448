import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

// V8's own switch lets it wait before it compiles: without the call the thread is over at once, and its compiler is not.
const waitMs = 2000
const thread = `
import { parentPort } from 'node:worker_threads'
import { endThread } from '${new URL('../../lib/base/thread-end.js', import.meta.url)}'
const sum = (n) => {
  let all = 0
  for (let i = 0; i < n; i++) all += i % 7
  return all
}
for (let i = 0; i < 3000; i++) sum(1000)
const fromMs = performance.now()
endThread(parentPort)
console.log(performance.now() - fromMs)
`
const program = `
import { Worker } from 'node:worker_threads'
new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(thread)})))
`

const skip = Number.parseInt(process.versions.node, 10) >= 22 && 'this Node waits by itself'
test('a thread ends when V8 has compiled what it began for it', { skip }, async () => {
  const delay = `--concurrent-recompilation-delay=${waitMs}`
  const { stdout } = await run(process.execPath, [delay, '--input-type=module', '--eval', program])
  assert.ok(Number(stdout) > 100, stdout)
})
