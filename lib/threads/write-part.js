// A thread's part of a writing run: its load, with counts in the memory of all threads and instruments of its own.
import { writingOf } from '../loads/index.js'
import { namedSumsOf, recordsOf } from '../loads/write-records.js'
import { instrumentsOf, ofWriters } from '../measures/index.js'
import { courseOf } from '../plan/course.js'
import { keptIn } from '../probes/shared-counts.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { loadCommands, loadModel } from '../workloads/own/load.js'

/**
 * @import { Opened } from '../loads/index.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Place } from '../servers/open.js'
 * @import { PartNeeds, Playing } from './thread.js'
 *
 * @typedef {{ kind: 'writing', place: Place, plan: Plan, memory: SharedArrayBuffer }} WriteOrders plan: its part; memory: of its
 *   counts
 */

// A thread says how far it has encoded, at steps of this size.
const encodedStep = 0.05

/** The instruments of a thread, and when their window opens: when that of the run does. @param {() => number} leftMs until then @param {() => unknown} open */
const windowOf = (leftMs, open) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  return {
    set() {
      clearTimeout(timer)
      timer = setTimeout(open, Math.max(0, leftMs()))
    },
    close: () => clearTimeout(timer),
  }
}

/** @param {Plan} plan */
const loadOwnModel = ({ model }) => {
  const { model: path, command } = model?.source ?? {}
  if (path) loadModel(path)
  if (command) loadCommands(command.split('\n'))
}

/** @param {WriteOrders} orders @param {PartNeeds} needs @returns {Promise<Playing>} */
export const openWriting = async ({ plan, memory }, { target, clock, sharedMs, state, say, stopNow }) => {
  /** @type {Opened | null} */
  let load = null
  loadOwnModel(plan)
  const elapsed = () => load?.writing.elapsed() ?? 0
  const event = (/** @type {string} */ kind, /** @type {string} */ text) => say({ event: [kind, text] })
  const strategy = strategyOf(plan)
  const records = recordsOf(plan, () => elapsed() >= state().fromMs, undefined, keptIn(memory))
  const instruments = await instrumentsOf(
    'writers',
    {
      ...{ plan, clock, elapsed, records, sampler: null, access: target.access, note: event },
      load: () => load,
      masters: () => [],
      covers: () => true,
      thread: plan.part?.number,
    },
    ofWriters.filter(({ by }) => by === 'each'),
  )
  let share = 0
  load = await writingOf(plan).open({
    ...{ plan, strategy, target, records, instruments, clock, onEvent: event },
    measuredFromMs: () => state().fromMs,
    time: { now: () => clock() + sharedMs + state().aheadMs },
    course: plan.rates ? courseOf(plan.rates, true) : null,
    stopsAtMs: () => state().stopsAtMs - sharedMs,
    onEncoding(encoded) {
      if (encoded < 1 && encoded - share < encodedStep) return
      share = encoded
      say({ encoding: share })
    },
    onProgress: () => load?.writing.progress?.(),
  })
  const { driver, writing, counts = () => ({}) } = load
  const window = windowOf(() => state().fromMs - elapsed(), instruments.startWindow)
  return {
    ready: { encodeMs: driver.encodeMs, encodedBytes: driver.encodedBytes },
    over: writing.offered,
    begin(atMs, late) {
      instruments.startRun()
      writing.beginAt?.(atMs, late)
      writing.start(null)
      window.set()
    },
    changed: () => window.set(),
    stop: writing.stop,
    async second() {
      driver.watch()
      const bytes = target.nodes().map(({ address }) => [address, target.loadBytes(address)])
      const sums = namedSumsOf(records, writing)
      return {
        ...{ line: await instruments.second(true, undefined, []), sums, counts: counts() },
        ...{ bytes: Object.fromEntries(bytes), behindMs: records.firstBehindMs() },
      }
    },
    async settled(limitMs) {
      const whole = await writing.settle(limitMs, stopNow)
      if (!whole) driver.abandon()
      await instruments.stop()
      instruments.end()
      return {
        ...{ whole, facts: instruments.own().facts, warnings: instruments.warnings() },
        ...{ written: records.ledger.written(), lastSettledMs: writing.lastSettledMs() },
      }
    },
    close() {
      window.close()
      driver.close()
      instruments.close()
      records.close()
    },
  }
}
