// The seconds of a run's threads as those of the process: folded as a fleet folds those of its boxes.
import { mergedSecond } from '../fleet/interval.js'
import { at, sumOfSources } from '../measures/fold.js'

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
      const lines = threads.flatMap((thread) => thread.takeLines())
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
