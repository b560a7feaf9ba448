// A run in chunks, in words: how it sends, where the client's time went, the delay of the proxy, and the sum.
import { count, micros, percent, period } from '../base/units.js'
import { rhythmWords } from '../loads/rhythm.js'

/**
 * @import { WriteRun as Run } from '../result/document.js'
 * @import { Clients } from '../loads/clients/open.js'
 */

/** @type {Record<string, (size: string) => string>} */
const sent = {
  one: () => 'one operation at a time',
  pipeline: (size) => `pipelines of ${size} operations`,
  concurrent: (size) => `${size} calls at once, which the driver puts into pipelines`,
  call: (size) => `calls of ${size} operations each`,
  transaction: (size) => `transactions of ${size} operations`,
}

/** What a client that sends in chunks does. @param {Run['plan'] & { clients: Clients }} plan */
export const chunksWords = (plan) => {
  const { quantity, clients, driver } = plan
  const { delivery, chunkSize, delayMs, passes } = clients
  const what = passes ? `${count(quantity)} operations` : `${rhythmWords(plan)}, what is due at once`
  const delay = delayMs === null ? '' : `, ${period(delayMs)} added to each round trip by a proxy`
  return `${what}, ${sent[delivery ?? 'one'](count(chunkSize))}, over ${driver === 'ioredis' ? 'ioredis' : 'a plain socket'}${delay}`
}

/** @param {NonNullable<NonNullable<Run['chunks']>['time_ms']>} time */
const timeWords = ({ whole: measured, ...parts }) => {
  const whole = measured ?? 0
  const shares = Object.entries(parts).flatMap(([name, ms]) =>
    ms === null ? [] : `${percent((ms / whole) * 100)} ${name}`,
  )
  return `${micros(whole * 1000)}: ${shares.join(', ')}`
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
export const chunkRows = ({ chunks }) => {
  if (!chunks) return []
  const { time_ms: time, delay, sum } = chunks
  return [
    ...(time ? [{ label: 'time', text: timeWords(time) }] : []),
    ...(delay ? [{ label: 'round trip', text: delayWords(delay) }] : []),
    ...(sum ? [{ label: 'sum', text: sumWords(sum) }] : []),
  ]
}
