// The answer of a search for find.json: the rate, its interval, what limits it, and every second. Pure.

import { exactly } from '../../base/typed.js'
import { clientLimit } from '../../measures/client-limit.js'
import { readsName, TIMES_BY_DUE } from '../../measures/index.js'
import { limitOf, speedWords } from './limit.js'
import { isClientLimited, missedIn, missedOverConfirmation } from './objectives.js'

/**
 * @import { CloudWatchSection } from '../../cloudwatch/fetch.js'
 * @import { SecondRecord } from '../../run/conductor.js'
 * @import { Line } from './limit.js'
 * @import { Objectives } from './objectives.js'
 * @import { SearchAnswer } from './search.js'
 * @import { Run } from '../../measures/section.js'
 * @import { AnyPlan } from '../../measures/measure.js'
 *
 * @typedef {ReturnType<typeof findAnswer>} FindAnswer
 * @typedef {'found' | 'at-least' | 'none' | 'changed' | 'unsteady' | 'stopped'} State
 * @typedef {{ code: string, message: string }} Warning
 */

/** Whether other processes took the CPU from the client. @param {SecondRecord} second */
const isContended = ({ client }) => clientLimit(client) === 'contended'

const percentOf = (/** @type {number} */ ratio) => `${(ratio * 100).toFixed(ratio < 0.095 ? 1 : 0)} %`

/** @param {SearchAnswer['warnings'][number]} warning @param {SearchAnswer} answer @param {number} share */
const messageOf = ({ code, value }, { confirmed }, share) =>
  ({
    changed: 'the target changed during the search: the interval is for the time since then',
    'recovers-slowly': `after a failed second it took ${value} s until one passed: measured shortly after an overload, rates look lower than they are`,
    drifts: `the capacity drifts by ${percentOf(value)} (standard deviation) over the search`,
    wide: `the rate at which half of the seconds pass is ${percentOf(value)} higher than this one: the limit is not sharp`,
    'bad-seconds': `${percentOf(value)} of the seconds fail at any rate: look for other load on the servers or this box`,
    'not-held': `the confirmation met the objectives in only ${value} of ${confirmed?.seconds} s`,
    'no-rate': `with a probability of ${percentOf(value)} there is no rate at which ${percentOf(share)} of the seconds pass`,
  })[code]

/** Shares of failures near the answer that this client caused, not the target. @param {readonly SecondRecord[]} failed @param {SearchAnswer} answer */
const causesNear = (failed, { low, high }) => {
  const near = failed.filter(
    ({ rate }) => rate !== null && (high === null || (rate >= low * 0.97 && rate <= high * 1.3)),
  )
  const shareOf = (/** @type {(second: SecondRecord) => boolean} */ is) =>
    near.length === 0 ? 0 : near.filter(is).length / near.length
  return { client: shareOf(isClientLimited), contended: shareOf(isContended) }
}

/**
 * The seconds of the confirmation, which are the last ones; the highest rate may have been tried for as long before.
 * @param {readonly SecondRecord[]} seconds
 */
export const confirmingIn = (seconds) =>
  seconds.slice(seconds.findLastIndex(({ phase }) => phase !== 'confirm') + 1)

/** Achieved parts of the capacity over time: quantiles of the paths. @param {SearchAnswer} answer @param {readonly SecondRecord[]} seconds */
const pathOf = ({ fit, from }, seconds) => {
  if (!fit || fit.paths.length === 0) return []
  const at = (/** @type {number[]} */ sorted, /** @type {number} */ q) =>
    Math.exp(sorted[Math.round(q * (sorted.length - 1))])
  return Array.from({ length: fit.paths[0].length }, (_, t) => {
    const sorted = fit.paths.map((path) => path[t]).sort((a, b) => a - b)
    return {
      at_ms: seconds[from + t]?.atMs ?? 0,
      low: at(sorted, 0.025),
      middle: at(sorted, 0.5),
      high: at(sorted, 0.975),
    }
  })
}

const curvePoints = 60

/** The share of the seconds in which a rate passes, with its band. @param {SearchAnswer} answer */
const curveOf = ({ fit, low, high }) => {
  if (!fit || fit.paths.length === 0 || high === null) return []
  const room = Math.max(0.06, Math.log(high / low))
  const [from, to] = [Math.log(low) - room, Math.log(high) + 1.5 * room]
  return Array.from({ length: curvePoints }, (_, k) => {
    const x = from + ((to - from) * k) / (curvePoints - 1)
    const shares = fit.paths
      .map((path, i) => {
        const { slope, bad } = fit.models[i]
        let sum = 0
        for (const level of path) sum += 1 / (1 + Math.exp((x - level) / slope))
        return ((1 - bad) * sum) / path.length
      })
      .sort((a, b) => a - b)
    const at = (/** @type {number} */ q) => shares[Math.round(q * (shares.length - 1))]
    return { rate: Math.exp(x), low: at(0.025), middle: at(0.5), high: at(0.975) }
  })
}

/** @param {SearchAnswer | null} answer @param {{ client: number }} causes @param {boolean} isMissed @returns {State} */
const stateOf = (answer, causes, isMissed) => {
  if (answer === null) return 'stopped'
  const { state } = answer
  if (isMissed && (state === 'found' || state === 'at-least')) return 'none'
  // If the client was the limit, the target may sustain more.
  return answer.fit && causes.client >= 0.5 && state !== 'none' ? 'at-least' : state
}

/**
 * @typedef {object} Asked of a search
 * @property {Objectives} objectives
 * @property {readonly string[]} slos
 * @property {number} share
 * @property {[number, number] | null} within
 *
 * @typedef {object} Confirmed what was measured while the rate was confirmed
 * @property {Run} confirmation run.json of that time
 * @property {Run | null} [readers] run.json of the consumers in that time
 * @property {CloudWatchSection | null} [cloudwatch]
 *
 * @param {object} about
 * @param {SearchAnswer | null} about.answer null: it was stopped
 * @param {Asked} about.asked
 * @param {readonly SecondRecord[]} about.seconds
 * @param {readonly Line[]} about.lines
 * @param {Confirmed} about.confirmed
 * @param {readonly Warning[]} about.noticed
 */
export const findAnswer = ({ answer, asked, seconds, lines, confirmed, noticed }) => {
  const { objectives, slos, share, within } = asked
  const { confirmation, readers = null, cloudwatch = null } = confirmed
  const judged = seconds.map((second) => ({ ...second, missed: missedIn(second, objectives) }))
  const failed = judged.filter(({ missed }) => missed !== null)
  const causes = answer ? causesNear(failed, answer) : { client: 0, contended: 0 }
  const confirming = confirmingIn(seconds)
  const missedAfter = confirming.length > 0 ? missedOverConfirmation(objectives, confirmation, readers) : []
  const state = stateOf(answer, causes, missedAfter.length > 0)
  const fitted = answer?.fit ? answer : null
  const after = judged.filter(
    ({ phase, rate }) => phase !== 'limit' && rate !== null && fitted && rate > fitted.low,
  )
  const above = missedMost(after)
  const limit = fitted
    ? limitOf({
        seconds: confirming.length > 0 ? confirming : seconds.slice(-20),
        lines,
        clients: confirmation.plan?.clients ?? consumersIn(confirmation.plan),
        cloudwatch,
      })
    : null
  const isMoving =
    state === 'unsteady' || state === 'changed' || answer?.warnings.some(({ code }) => code === 'drifts')
  const measured = seconds.filter(({ phase }) => phase !== 'warm-up')
  const speed = isMoving ? speedWords(lines, measured) : null
  return {
    schema: exactly(1),
    kind: exactly('find'),
    run: String(confirmation.run),
    started: confirmation.started ?? null,
    command_line: confirmation.command_line ?? null,
    versions: confirmation.versions ?? null,
    strategy: confirmation.plan?.strategy ?? null,
    items: confirmation.plan?.quantity ?? null,
    objectives: slos,
    share,
    within,
    state,
    find: {
      low: fitted && state !== 'none' ? fitted.low : state === 'at-least' ? (answer?.low ?? null) : null,
      middle: fitted && state !== 'none' ? fitted.middle : null,
      high: fitted && state !== 'none' && state !== 'at-least' ? fitted.high : null,
    },
    none_from: answer?.state === 'none' ? answer.low : null,
    confirmed: answer?.confirmed ?? null,
    change: answer?.change ? { ...answer.change, at_ms: seconds[answer.change.at]?.atMs ?? null } : null,
    seconds_of_load: seconds.length,
    missed_above: above,
    missed_over_confirmation: missedAfter,
    limit,
    warnings: [
      ...(answer?.warnings ?? []).map((warning) => ({
        code: /** @type {string} */ (warning.code),
        message: messageOf(warning, /** @type {SearchAnswer} */ (answer), share),
      })),
      ...(speed === null ? [] : [{ code: 'server-speed', message: speed }]),
      ...(causes.contended >= 0.3
        ? [
            {
              code: 'contended',
              message: `in ${percentOf(causes.contended)} of the seconds that failed other processes took the CPU from the load generator`,
            },
          ]
        : []),
      ...noticed,
    ],
    seconds: judged.map(({ atMs, ...second }, i) => ({
      at_ms: Math.round(atMs),
      ...second,
      client_limited: isClientLimited(seconds[i]),
      after_pass: i > 0 && judged[i - 1].missed === null,
      passed: second.missed === null,
    })),
    curve: fitted ? curveOf(fitted) : [],
    path: fitted ? pathOf(fitted, seconds) : [],
    confirmation:
      confirming.length > 0 ? { ...confirmedParts(confirmation), ...(cloudwatch && { cloudwatch }) } : null,
    readers: readers && readersParts(readers),
  }
}

/** The objective that fails most often above the answer. @param {readonly { missed: string | null }[]} seconds */
const missedMost = (seconds) => {
  /** @type {Map<string, number>} */
  const times = new Map()
  for (const { missed } of seconds) if (missed !== null) times.set(missed, (times.get(missed) ?? 0) + 1)
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}

/** In a search for the rate of consumers, each has one request under way. @param {AnyPlan} plan */
const consumersIn = (plan) =>
  plan?.consumers ? { connections: plan.totalAgents * plan.consumers, pipeline: 1, areConsumers: true } : null

/** @param {Run} run */
const readersParts = ({ plan, rate, [readsName]: reads, freshness_ms, jobs, waiting_us }) =>
  plan.flow === 'workers'
    ? { workers: plan.work.workers, rate, jobs, waiting_us }
    : { consumers: plan.totalAgents * plan.consumers, rate, [readsName]: reads, freshness_ms }

const sectionsByDue = [...new Set(TIMES_BY_DUE.map((path) => path.split('.')[0]))]

/** @param {Run} run @returns {Run} */
const confirmedParts = ({ rate, server, client, measured_s: s, ...sections }) => ({
  measured_s: s ?? null,
  rate,
  ...Object.fromEntries(sectionsByDue.map((name) => [name, sections[name]])),
  server,
  client,
})
