// The limits that a second must meet, judged on what was due in it. Limits on metrics that a single second does not have
// (memory, costs) are judged on the confirmation.
import { OptionError } from '../../base/errors.js'
import { clientLimit } from '../../measures/client-limit.js'
import { SECTIONS_BY_DUE } from '../../measures/index.js'
import { isOfReaders } from '../../result/metrics.js'
import { absoluteThreshold, judgedBy, keeps } from '../../result/thresholds.js'

/**
 * @import { Threshold } from '../../result/thresholds.js'
 * @import { SecondRecord } from '../../run/conductor.js'
 * @import { SecondVerdict } from './bracket.js'
 * @import { RunDocument as Run } from '../../result/document.js'
 *
 * @typedef {{ bySecond: Threshold[], overConfirmation: string[] }} Objectives
 */

const sectionsOfSecond = [...SECTIONS_BY_DUE, 'items.']
// A second with any of these has failed.
const losses = ['failed', 'uncertain', 'dropped', 'unsettled', 'open']

/** @param {string} text */
export const sloOf = (text) => {
  try {
    return { ...absoluteThreshold(text), text: text.trim() }
  } catch (error) {
    if (error instanceof OptionError) throw new OptionError(error.message.replace(/^--threshold/, '--slo'))
    throw error
  }
}

/** @param {readonly string[]} slos @returns {Objectives} */
export const objectivesOf = (slos) => {
  const all = slos.map(sloOf)
  const isOfSecond = (/** @type {Threshold} */ { figure }) =>
    sectionsOfSecond.some((section) => figure.name.startsWith(section))
  return {
    bySecond: all.filter(isOfSecond),
    overConfirmation: all.filter((one) => !isOfSecond(one)).map(({ text }) => text),
  }
}

const growingBacklog = 'a growing backlog'

/** @param {string} missed */
export const missedAboveWords = (missed) =>
  missed === growingBacklog ? 'the backlog grows' : `${missed} fails`

/** @param {SecondRecord} second @param {Objectives} objectives @returns the first that was missed, in words; null: all were met */
export const missedIn = ({ items, ...second }, { bySecond }) => {
  const lost = losses.find((name) => items[name] > 0)
  const missed = bySecond.find(({ figure, ...threshold }) => {
    const value = figure.value({ ...second, items })
    return !keeps({ figure, ...threshold }, value)
  })
  if (missed) return missed.text
  if (second.backlog_grows) return growingBacklog
  return lost === undefined ? null : lost === 'open' ? 'answered after 3 s' : `items ${lost}`
}

// A second that ends with a wait above this part of the limit leaves a backlog to the next.
const backlogPart = 0.5

/** @param {Objectives} objectives @returns {(second: SecondRecord) => SecondVerdict} */
export const judgeOf = (objectives) => (second) => ({
  passed: missedIn(second, objectives) === null,
  achieved: second.achieved,
  leaves: second.backlog_grows || second.waited_ms > backlogPart * behindOf(objectives),
})

/** A limit on what consumers do. @param {string} text */
export const isLimitOfReaders = (text) => isOfReaders(/[\w.]+/.exec(text)?.[0] ?? '')

/**
 * @param {Objectives} objectives
 * @param {Run} confirmation run.json of it
 * @param {Run | null} readers that of the consumers beside it
 */
export const missedOverConfirmation = ({ overConfirmation }, confirmation, readers) =>
  overConfirmation
    .flatMap((text) => judgedBy([text], (isLimitOfReaders(text) && readers) || confirmation))
    .filter(({ passed }) => !passed)

// Anything that waits longer than this at the end of a second fails it, whatever the limits.
const mostGraceMs = 1000

/**
 * How long commands that are open at the end of a second may still wait: the longest allowed latency, so that a pause at
 * the boundary fails only seconds that it would fail elsewhere too.
 * @param {Objectives} objectives
 */
export const graceOf = ({ bySecond }) =>
  Math.min(
    mostGraceMs,
    Math.max(
      0,
      ...bySecond.flatMap(({ figure, limit }) => (figure.name.startsWith('latency.') ? [limit / 1000] : [])),
    ),
  )

/** @param {Objectives} objectives */
export const behindOf = (objectives) => graceOf(objectives) || Number.POSITIVE_INFINITY

/** Whether the client's thread was full with its own work. @param {SecondRecord} second */
export const isClientLimited = ({ client }) => clientLimit(client) === 'saturated'
