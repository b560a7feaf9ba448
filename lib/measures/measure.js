// What a measure declares. Everything that deals with all measures (the second's record, interval file, run.json, fleet,
// page, Prometheus, thresholds, schemas, docs) goes through the list in index.js and names none of them.

import { percentileOf } from '../base/samples.js'
import { exactly } from '../base/typed.js'
import { micros, threeDigits } from '../base/units.js'

/**
 * @import { Percentiles } from '../base/samples.js'
 * @import { Measure, Recorded, Taker } from './contract.js'
 * @import { Idle, Unknown } from '../probes/idle-cost.js'
 * @import { Others } from '../probes/others.js'
 * @import { Times } from '../probes/latency.js'
 * @import { Snapshot } from '../probes/seconds.js'
 * @import { Amounts, Fields, Folded } from './fold.js'
 * @import { Run } from './section.js'
 * @import { FoldedTimes } from './fields.js'
 *
 * @typedef {'us' | 'ms' | 's' | 'pct' | 'bytes' | 'mb' | 'count' | 'rate' | 'ratio'} Unit
 *
 * @typedef {{ label: string, text: string }} Row of the report
 * @typedef {any} AnyPlan of whatever load
 *
 * @typedef {'brief' | 'beside' | 'rate' | 'found' | 'reads' | 'details' | 'queue'} Part of the report; those of consumers are in this order
 *
 * @typedef {object} Source what takes a measure in one process
 * @property {() => unknown} [start] before the load
 * @property {() => void} [startRun] what came before is no part of the first second
 * @property {() => unknown} [startWindow] the warm-up is over
 * @property {() => Folded} second since the call before: amounts, by the paths of `record`
 * @property {() => Promise<Folded>} [sample] those that have to be asked for
 * @property {() => unknown} [state] what the next box of a fleet goes on with
 * @property {(state: unknown) => void} [restore]
 * @property {() => Folded} [facts] at the end of the load, by the paths of `facts`
 * @property {() => unknown} [stop] what is still open belongs to the last second
 * @property {() => { code: string, message: string, invalidates: boolean }[]} [warnings] once it has stopped
 * @property {() => void} [close]
 *
 * @typedef {object} Costed what the servers' work is divided by, and what they use besides
 * @property {number} items of all writers; 0: none was stored
 * @property {Idle | Unknown} idle
 * @property {Others | null} [others] who else was at work on the servers
 *
 * @typedef {object} Metric a number of run.json
 * @property {string} title
 * @property {Unit} unit
 * @property {'less' | 'more' | 'neither'} better
 * @property {boolean} [isShare] it is a part of a whole
 *
 * @typedef {object} Declared of a measure, besides who takes it and how
 * @property {string} name
 * @property {'each' | 'one'} by each process, or of a fleet one box for all
 * @property {(plan: AnyPlan) => boolean} [applies]
 * @property {Readonly<Record<string, object>>} [shown] schema of what a line has besides its amounts, for its reader
 * @property {(second: Folded) => Folded} [show] by paths
 * @property {Readonly<Record<string, object>>} result schema of what `summary` gives
 * @property {readonly string[]} [needed] sections of run.json that every run of it has
 * @property {Readonly<Record<string, Metric>>} metrics what a threshold can name
 * @property {(name: string) => Metric | null} [named] a metric whose name is not known before the run
 * @property {(run: Run) => string[]} [namesIn] those that a run has
 * @property {Readonly<Record<string, Metric>>} [metricsOfBoxes] the same of all boxes of a fleet that read
 * @property {readonly string[]} [highlights] those on top of its report, and in a comparison with a verdict
 * @property {readonly string[]} [compared]
 * @property {(line: Amounts, sofar: Folded) => Pick<Snapshot, 'lost' | 'reading'>} [live] of the live line of consumers
 * @property {string} [done] path in a line: how much of the load was done in it
 * @property {readonly Prometheus[]} [prometheus]
 * @property {{ name: string, path: string, unit: 'us' | 'ms' }[]} [times] rows of the table of times
 * @property {Partial<Record<Part, (run: Run, unit: string) => Row | readonly Row[]>>} [answers] its lines of the report
 * @property {readonly string[]} [warningCodes] codes of warnings that its lines have, and no others
 * @property {(run: Run, unit: string) => { label: string, texts: (string | false)[] }} [fact] its line of the details
 *
 * @typedef {object} Reading how the reads of a fleet, or beside a search, are shown
 * @property {readonly string[]} second what a status has of the last line
 * @property {(line: Amounts) => { achieved: number | null, p99_us: number | null }} last what is known of a box by its last line
 * @property {(status: Run, who: string) => readonly string[]} screen
 * @property {(counts: Record<string, number>) => Record<string, number>} lost beside the items of writers, by their words
 * @property {(sections: Run, end: Run, spanS: number) => Folded} box what a box's row has of run.json
 * @property {{ title: string, cell: (box: Run) => [text: string, value?: string | number | null] }[]} columns of the table of boxes
 * @property {string} note on the table of boxes
 * @property {(sections: Run) => string} did how many there were, in words
 * @property {(sections: Run) => string} brief all of it in a line
 *
 * @typedef {object} Prometheus
 * @property {string} name after millrace_
 * @property {string} help
 * @property {'gauge' | 'counter' | 'histogram'} type
 * @property {string} path in a line
 * @property {number} [scale]
 * @property {Record<string, string>} [labels]
 * @property {string} [by] label with the name of each, where the path has several by their names
 * @property {string} [of] what of each
 */

/**
 * @template {Taker} const T
 * @template {Source} S
 * @template {Fields} R
 * @template {Fields} [F={}]
 * @param {Measure<T, S, R, F> & Recorded<S, R>} declared
 */
export const measure = (declared) => declared

/** For measures without a record of their own. */
export const derived = {
  record: {},
  /** @type {'one'} */
  by: 'one',
  open: () => ({ second: () => ({}) }),
  result: {},
  metrics: {},
}

export const figure = { type: ['number', 'null'] }
const names = exactly(['p50', 'p90', 'p99', 'p999', 'max'])
/** Percentiles of times, if there are any. */
export const someTimes = {
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, figure])),
  required: [],
}
export const percentiles = { ...someTimes, type: ['object', 'null'] }

/** @param {string} percentile */
const titleOf = (percentile) => (percentile === 'p999' ? 'p99.9' : percentile)

/** @param {string} title @param {Unit} unit @param {Metric['better']} [better] @returns {Metric} */
export const metric = (title, unit, better = 'less') => ({ title, unit, better })

/** A part of a whole, from 0 to 1 or 100 %: percentages of a core may be more. @type {typeof metric} */
export const partMetric = (...words) => ({ ...metric(...words), isShare: true })

/** @param {string} path @param {string} title @param {readonly (typeof names[number])[]} [which] @param {Unit} [unit] */
export const percentileMetrics = (path, title, which = names, unit = 'us') =>
  Object.fromEntries(which.map((name) => [`${path}.${name}`, metric(`${title} ${titleOf(name)}`, unit)]))

/** Percentiles of folded times, with how many samples they are of. @param {FoldedTimes | null | undefined} sum @param {number} [us] in their unit @param {Times | null} [found] if known */
export const percentilesIn = (sum, us = 1, found = sum?.buckets.percentiles()) => {
  if (!sum || !found) return null
  const max = sum.max ?? found.max
  const scaled = Object.fromEntries(names.map((name) => [name, Math.min(max, found[name]) / us]))
  return { ...scaled, ...(sum.samples > 0 && { count: sum.samples }) }
}

/** @param {string} name @param {string} help @param {string} path @param {Record<string, string>} [labels] @returns {Prometheus} */
export const counter = (name, help, path, labels) => ({ name, help, type: 'counter', path, labels })

/** @param {string} name @param {string} help @param {string} path of times @param {Record<string, string>} [labels] @returns {Prometheus} */
export const histogram = (name, help, path, labels) => ({ name, help, type: 'histogram', path, labels })

/** The value of a rank from 0 to 1, of values and how often each was there; null: none was. @param {Readonly<Record<string, number>>} times */
export const ranked = (times) => {
  const values = Object.entries(times).map(([value, n]) => exactly([Number(value), n]))
  values.sort(([one], [other]) => one - other)
  const all = values.reduce((sum, [, n]) => sum + n, 0)
  return (/** @type {number} */ rank) => {
    let left = Math.max(1, Math.ceil(all * rank - 1e-6))
    for (const [value, n] of values) {
      left -= n
      if (left <= 0) return value
    }
    return null
  }
}

/** @param {number | null | undefined} part @param {number | null | undefined} whole @param {number} [scale] */
export const per = (part, whole, scale = 1) =>
  typeof part === 'number' && typeof whole === 'number' && whole > 0 ? (part * scale) / whole : null

/**
 * All in one unit: `p50 20.2  p99 40.5  max 43.9 ms`; without those that have too few samples.
 * @param {Percentiles | null | undefined} found of run.json
 * @param {number} [us] what one of its unit is
 * @param {readonly ('p50' | 'p90' | 'p99' | 'p999' | 'max')[]} [wanted]
 */
export const timesLine = (found, us = 1, wanted = ['p50', 'p90', 'p99', 'max']) => {
  const known = wanted.flatMap((name) => {
    const value = percentileOf(found, name)
    return value === null ? [] : [{ name, us: value * us }]
  })
  const isMs = known.some((one) => one.us >= 1000)
  const shown = known.map((one) => `${titleOf(one.name)} ${threeDigits(isMs ? one.us / 1000 : one.us)}`)
  return shown.length > 0 ? `${shown.join('  ')} ${isMs ? 'ms' : 'µs'}` : ''
}

/** p50 1.2 ms, p99 3 ms: those that there are samples for. @param {Run} found of run.json @param {number} [us] of its unit @param {string[]} [wanted] */
export const timesText = (found, us = 1, wanted = ['p50', 'p99', 'max']) =>
  wanted
    .flatMap((name) => {
      const value = percentileOf(found, name)
      return value === null ? [] : `${titleOf(name)} ${micros(value * us)}`
    })
    .join(', ')
