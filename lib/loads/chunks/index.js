// One client that sends what is due in chunks, each when the one before it was answered.
import { count, micros, percent, period } from '../../base/units.js'
import { clients } from '../clients/index.js'
import { filledWords } from '../clients/words.js'
import { names } from '../names.js'
import { passes } from '../passes/index.js'
import { rhythmWords } from '../rhythm.js'
import { writingWords } from '../words.js'
import { writerReasons } from '../writer-reasons.js'
import { plan } from './plan.js'

/**
 * @import { AnyPlan as Plan, WriteRun as Run } from '../../result/document.js'
 * @import { Evidence } from '../writer-reasons.js'
 * @import { FlowNeeds } from '../ticks/open.js'
 * @import { Loaded } from '../index.js'
 * @import { Warning } from '../../measures/warnings.js'
 */

// As a part of the delay that was asked for.
const mostOff = 0.1

/** @param {Evidence} run @returns {Warning[]} */
const delayMissed = ({ chunks }) => {
  const { asked = 0, added = 0 } = chunks?.delay ?? {}
  if (asked === 0 || Math.abs(added - asked) <= asked * mostOff) return []
  const message = `the proxy added ${micros(added * 1000)} to a round trip, not ${micros(asked * 1000)}: its own way takes ${micros(chunks.delay.proxy * 1000)} here; ask for a longer --delay, or end other processes`
  return [{ code: 'delay', message }]
}

/** @param {Evidence} run */
const behind = ({ plan: { sending } }) =>
  `each chunk waits for the replies to the one before it: ${sending.delivery === 'one' ? 'counter-pipeline and counter-script send many increments at once' : 'raise --chunk-size'}`

const reasons = writerReasons({ behind, own: [delayMissed] })

/** @type {Record<string, (size: string) => string>} */
const sent = {
  one: () => 'one operation at a time',
  pipeline: (size) => `pipelines of ${size} operations`,
  concurrent: (size) => `${size} calls at once, which the driver puts into pipelines`,
  call: (size) => `calls of ${size} operations each`,
  transaction: (size) => `transactions of ${size} operations`,
}

/** @param {Loaded} run */
const load = ({ plan }) => {
  const { quantity, sending, driver } = plan
  const { delivery, chunkSize, delayMs, isWhole } = sending
  const what = isWhole ? `${count(quantity)} operations` : `${rhythmWords(plan)}, what is due at once`
  const delay = delayMs === null ? '' : `, ${period(delayMs)} added to each round trip by a proxy`
  return `${what}, ${sent[delivery](count(chunkSize))}, over ${driver === 'ioredis' ? 'ioredis' : 'a plain socket'}${delay}`
}

/** @param {NonNullable<NonNullable<Run['chunks']>['time_ms']>} time */
const timeWords = ({ whole: measured, ...parts }) => {
  const whole = measured ?? 0
  const words = Object.entries(parts).flatMap(([name, ms]) =>
    ms === null ? [] : `${percent((ms / whole) * 100)} ${name}`,
  )
  return `${micros(whole * 1000)}: ${words.join(', ')}`
}

/** @param {NonNullable<NonNullable<Run['chunks']>['delay']>} delay */
const delayWords = ({ asked, direct, proxy, added, lost }) =>
  [
    `${micros(added * 1000)} added by the proxy (${period(asked)} asked for)`,
    `${micros(direct * 1000)} without it`,
    `the proxy itself takes ${micros(proxy * 1000)}`,
    ...(lost > 0 ? [`${count(lost)} replies lost by it`] : []),
  ].join(' · ')

/** @param {NonNullable<NonNullable<Run['chunks']>['sum']>} sum */
const sumWords = ({ before, after, acked, uncertain }) => {
  const grown = after - before
  const whole = `the counters grew by ${count(grown)}`
  if (uncertain === 0) return `${whole}, ${count(acked)} increments acknowledged`
  return `${whole}: ${count(acked)} increments acknowledged, ${count(grown - acked)} of ${count(uncertain)} uncertain ones done`
}

/** @param {Run} run @returns {{ label: string, text: string }[]} */
const late = ({ chunks }) => {
  if (!chunks) return []
  const { time_ms: time, delay, sum } = chunks
  return [
    ...(time ? [{ label: 'time', text: timeWords(time) }] : []),
    ...(delay ? [{ label: 'round trip', text: delayWords(delay) }] : []),
    ...(sum ? [{ label: 'sum', text: sumWords(sum) }] : []),
  ]
}

/** @param {Plan} plan */
const planWords = (plan) => writingWords(plan, { first: [filledWords(plan)] })

/** Counters that do not hold what was acknowledged are an error, so the sum is in the details. @param {Run} run */
const brief = (run) => late(run).filter(({ label }) => label === 'time')

const words = { ...passes.words, brief, load, plan: planWords, late }

export const chunks = Object.freeze({
  ...clients,
  names: names.chunks,
  plan,
  open: async (/** @type {FlowNeeds} */ needs) => (await import('./open.js')).chunksWriting(needs),
  words,
  reasons,
})
