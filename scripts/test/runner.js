// Node's test runner as a program that takes files in their order: `node --test` sorts them by name, and the longest
// would run alone at the end. node scripts/test/runner.js CONCURRENCY TIMEOUT_MS FILE...
import { resolve } from 'node:path'
import { run } from 'node:test'
import { spec as Spec } from 'node:test/reporters'
import progress from './progress.js'

const [concurrency, timeout, ...files] = process.argv.slice(2)
const events = run({
  files: files.map((file) => resolve(file)),
  concurrency: Number(concurrency),
  timeout: Number(timeout),
})
events.on('test:fail', () => {
  process.exitCode = 1
})
events.compose(new Spec()).pipe(process.stdout)
events.compose(progress).pipe(process.stderr)
