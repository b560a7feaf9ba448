// The seconds of a run's threads as those of the process: folded as a fleet folds those of its boxes.
import { mergedSecond } from '../fleet/interval.js'
import { at, put, sumOfSources } from '../measures/fold.js'
import { recordOf } from '../measures/index.js'

/**
 * @import { Measure } from '../measures/contract.js'
 * @import { Source } from '../measures/measure.js'
 * @import { Folded } from '../measures/fold.js'
 * @import { Warning } from '../measures/warnings.js'
 *
 * @typedef {{ line: object }} Second what a thread says each second: of its measures, and of its kind
 * @typedef {{ whole: boolean, facts: Folded, warnings: readonly Warning[] }} End what it says when all has settled
 */

/**
 * What is known of a thread.
 * @template {Second} OfSecond
 * @template {End} OfEnd
 */
export const threadSeconds = () => {
  /** @type {object[]} */
  let lines = []
  const thread = {
    isLost: false,
    /** @type {OfSecond | null} */
    last: null,
    /** @type {OfEnd | null} */
    end: null,
    /** @param {OfSecond} second */
    take(second) {
      thread.last = second
      lines.push(second.line)
    },
    /** Lines since the last call: a thread that was busy may say two at once. */
    takeLines() {
      const taken = lines
      lines = []
      return taken
    },
  }
  return thread
}

const orderedKinds = new Set(['length', 'busiest', 'counts'])
// What cannot be merged across sources before it has been added up over time.
const ordered = Object.entries(recordOf()).filter(
  ([, { kind, inAnyOrder }]) => !inAnyOrder && (kind === 'level' || orderedKinds.has(kind)),
)

/** The lines of one thread, which are merged with those of others: the last one has what adds up over time. @param {readonly object[]} lines */
const inOrder = (lines) => {
  const last = lines.at(-1)
  if (!last || lines.length === 1) return lines
  for (const [path, { kind, overTime }] of ordered) {
    const known = lines.flatMap((line) => at(line, path) ?? [])
    if (known.length === 0) continue
    for (const line of lines) if (at(line, path) !== null) put(line, path, null)
    put(last, path, kind === 'level' ? known.at(-1) : known.reduce((sum, one) => overTime(sum, one), null))
  }
  return lines
}

/** @typedef {Pick<ReturnType<typeof threadSeconds>, 'takeLines' | 'end'>} Measured */

/** What instruments have of threads. @param {readonly Measured[]} threads */
export const besideOf = (threads) => {
  /** @type {object | null} of the measures of all threads */
  let line = null
  /** Open until the next is there. @type {ReturnType<typeof mergedSecond> | null} */
  let merged = null
  const ends = () => threads.flatMap(({ end }) => end ?? [])
  /** @param {Measure['record']} record @param {Folded} own */
  const joined = (record, own) =>
    Object.entries(record).map(([path, { inASecond }]) => {
      const theirs = line && at(line, path)
      if (own[path] == null || theirs === null) return [path, own[path] ?? theirs]
      return [path, inASecond(own[path], theirs)]
    })
  return {
    /** A second of all threads is there. */
    add() {
      const lines = threads.flatMap((thread) => inOrder(thread.takeLines()))
      merged?.close()
      merged = mergedSecond()
      for (const one of lines) merged.add(one)
      line = lines.length > 0 ? merged.line(true) : null
    },
    /** A measure that every thread takes, as one of the process. @param {Source} source @param {Measure} measure @returns {Source} */
    source: (source, { record, facts = {} }) => ({
      ...source,
      second: () => Object.fromEntries(joined(record, source.second())),
      facts: () => sumOfSources(facts, [source.facts?.() ?? {}, ...ends().map((end) => end.facts)]),
    }),
    warnings: () => {
      const all = ends().flatMap(({ warnings }) => warnings)
      return all.filter(({ code }, i) => all.findIndex((other) => other.code === code) === i)
    },
  }
}
