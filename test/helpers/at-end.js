// What a test undoes at its end, and the end of the process of tests.
import { after } from 'node:test'

/** @import { Scope } from './servers.js' */

const lingerMs = 20_000
// A program ends with exit() when its work is done. Commands that run in the process of the tests leave it alive, so that one
// open socket would hold up a file whose tests have all passed until its limit of ten minutes.
after(() =>
  setTimeout(() => {
    process.stderr.write(`${process.argv[1]} is ended; open: ${process.getActiveResourcesInfo().join(' ')}\n`)
    process.exit()
  }, lingerMs).unref(),
)

const steps = /** @type {WeakMap<Scope, (() => any)[]>} */ (new WeakMap())

/** Undoes a step when the test or the suite ends, the last one first: a run ends before its server. @param {Scope} t @param {() => any} step */
export const atEnd = (t, step) => {
  const before = steps.get(t)
  if (before) return void before.push(step)
  const all = [step]
  steps.set(t, all)
  t.after(async () => {
    const failures = /** @type {unknown[]} */ ([])
    for (let last = all.pop(); last; last = all.pop())
      try {
        await last()
      } catch (error) {
        failures.push(error)
      }
    if (failures.length > 0) throw failures[0]
  })
}
