// Node's test runner as a program that takes files in their order: `node --test` sorts them by name, and the longest
// would run alone at the end. Lanes of files run beside each other, so many files of a lane at once:
//   node scripts/test/runner.js TIMEOUT_MS --at-once=2 FILE... --at-once=3 FILE...
import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from 'node:test'
import { spec as Spec } from 'node:test/reporters'
import progress from './progress.js'

const [timeout, ...words] = process.argv.slice(2)
/** @type {{ concurrency: number, files: string[] }[]} */
const lanes = []
for (const word of words) {
  const [, atOnce] = /^--at-once=(\d+)$/.exec(word) ?? []
  if (atOnce) lanes.push({ concurrency: Number(atOnce), files: [] })
  else lanes.at(-1)?.files.push(resolve(word))
}

const events = new PassThrough({ objectMode: true })
/** What the lanes say at their ends, as one. @type {Map<string, number>} */
const sums = new Map()
const isSum = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/

/** @param {typeof lanes[number]} lane */
const runLane = async (lane) => {
  for await (const event of run({ ...lane, timeout: Number(timeout) })) {
    if (event.type === 'test:fail') process.exitCode = 1
    const [, name, amount] = event.type === 'test:diagnostic' ? (isSum.exec(event.data.message) ?? []) : []
    if (!name) events.write(event)
    else if (name === 'duration_ms') sums.set(name, Math.max(sums.get(name) ?? 0, Number(amount)))
    else sums.set(name, (sums.get(name) ?? 0) + Number(amount))
  }
}

events.compose(new Spec()).pipe(process.stdout)
events.compose(progress).pipe(process.stderr)
await Promise.all(lanes.filter(({ files }) => files.length > 0).map(runLane))
for (const [name, amount] of sums)
  events.write({ type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${amount}` } })
events.end()
