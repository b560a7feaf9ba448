// The sides of a comparison: each a set of repeats, named by folders or patterns.
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { OptionError } from '../base/errors.js'
import { stateWords } from '../measures/warnings.js'
import { unfinishedWords } from '../result/files.js'
import { METRICS, shownValue } from '../result/metrics.js'
import { readExperiment, readRunDocument } from '../result/record.js'

/**
 * @import { RunDocument } from '../result/document.js'
 * @import { ExperimentDocument } from '../result/experiment-document.js'
 *
 * @typedef {object} Series the repeats of one thing
 * @property {string} label name of a row of an experiment, which both sides must have; '' for runs
 * @property {Record<string, number[]>} samples by name of a figure
 * @property {number} repeats
 * @property {string[]} invalid names of runs that are not valid, each with its state
 * @property {number[]} starts of the runs, epoch ms; none of the rows of an experiment
 * @property {Record<string, string[]>} settings by name: all values that the repeats had
 *
 * @typedef {{ name: string, series: Series[] }} Side
 */

/** Matches `*` and `?` in the last part of a path. @param {string} pattern */
const matching = async (pattern) => {
  const name = basename(pattern)
  if (!/[*?]/.test(name)) return [pattern]
  const form = new RegExp(
    `^${name
      .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  )
  const folder = dirname(pattern)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() && form.test(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort()
}

/** The folder of a result, given as itself or as a file in it. @param {string} path */
const folderOf = (path) => (/^(run|experiment)\.json$/.test(basename(path)) ? dirname(path) : path)

// For cells/CELL of an experiment the runs are in its rounds.
const deepest = 2

/** The runs of a folder: itself, or those that lie in it. @param {string} folder @param {number} [depth] @returns {Promise<RunDocument[]>} */
const runsIn = async (folder, depth = 0) => {
  const own = await readRunDocument(folder)
  if (own) return [own]
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    throw new OptionError(`${folder} cannot be read (${error.code})`, { cause: error })
  })
  const inner = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  if (inner.includes('timeline'))
    throw new OptionError(
      `${folder} has phases, which are not repeats of one thing: give one of them, or the experiments`,
    )
  const documents = await Promise.all(inner.map((name) => readRunDocument(join(folder, name))))
  const runs = documents.filter((run) => run !== null)
  // When several writers ran side by side, `run` has the whole, besides its parts.
  const whole = inner.some((name) => /^writer-\d+$/.test(name)) ? documents[inner.indexOf('run')] : null
  if (whole) return [whole]
  if (runs.length > 0 || depth === deepest) return runs
  const isOfExperiment = entries.some(({ name }) => name === 'experiment.json')
  if (isOfExperiment) return []
  return (await Promise.all(inner.map((name) => runsIn(join(folder, name), depth + 1)))).flat()
}

// Settings that follow from others, or do not change what is measured.
const derived = ['items', 'nominalHz', 'spacingMs', 'ticks', 'endMs', 'buckets', 'seed', 'prefix', 'source']

/** @param {RunDocument} run @returns {Record<string, string>} */
const settingsOf = ({ kind, plan, target, versions, nodes }) => {
  const plain = Object.entries(plan).filter(
    ([name, value]) => !derived.includes(name) && (value === null || typeof value !== 'object'),
  )
  const ofRole = (/** @type {string} */ role) => nodes.filter((node) => node.role === role).length
  return {
    kind,
    ...Object.fromEntries(plain.map(([name, value]) => [name, String(value ?? 'none')])),
    sets: String(plan.sets?.length ?? 0),
    extraSets: String(plan.extraSets?.length ?? 0),
    target: target?.kind ?? 'unknown',
    masters: String(ofRole('master')),
    replicas: String(ofRole('replica')),
    server: versions.servers.join(', '),
  }
}

/** Every value that a setting has among the runs. @param {RunDocument[]} runs */
const settingsAmong = (runs) => {
  const all = runs.map(settingsOf)
  const names = [...new Set(all.flatMap(Object.keys))]
  return Object.fromEntries(names.map((name) => [name, [...new Set(all.map((one) => one[name] ?? 'none'))]]))
}

/** @param {RunDocument[]} runs @returns {Series} */
const seriesOf = (runs) => ({
  label: '',
  repeats: runs.length,
  invalid: runs.filter(({ valid }) => !valid).map((run) => `${run.run} (${stateWords(run)})`),
  starts: runs.map(({ started }) => Date.parse(started)),
  settings: settingsAmong(runs),
  samples: Object.fromEntries(
    METRICS.map((measure) => [
      measure.name,
      runs.map((run) => shownValue(measure, run)).filter((sample) => sample !== null),
    ]).filter(([, samples]) => samples.length > 0),
  ),
})

/** @param {ExperimentDocument} experiment @returns {Series[]} */
const rowsOf = ({ rows }) =>
  rows.map(({ label, figures, runs, marks }) => ({
    label,
    repeats: Math.max(0, ...Object.values(figures).map(({ samples }) => samples.length)) || runs.length,
    invalid: marks.some(({ code }) => code === 'invalid') ? [label] : [],
    starts: [],
    settings: {},
    samples: Object.fromEntries(Object.entries(figures).map(([name, { samples }]) => [name, samples])),
  }))

/** @param {string[]} patterns */
const nameOf = (patterns) => patterns.map((pattern) => basename(resolve(folderOf(pattern)))).join(' ')

/** @param {string[]} patterns folders of runs, of an experiment, or folders that hold runs @returns {Promise<Side>} */
export const sideOf = async (patterns) => {
  const folders = (await Promise.all(patterns.map(folderOf).map(matching))).flat()
  const name = nameOf(patterns)
  const experiments = (await Promise.all(folders.map(readExperiment))).filter((found) => found !== null)
  if (experiments.length > 1 || (experiments.length === 1 && folders.length > 1))
    throw new OptionError(`${patterns.join(' ')}: an experiment must be the only folder of its side`)
  if (experiments.length === 1) return { name, series: rowsOf(experiments[0]) }
  const runs = (await Promise.all(folders.map((folder) => runsIn(folder)))).flat()
  if (runs.length === 0) {
    const words = patterns.length === 1 ? await unfinishedWords(folderOf(patterns[0])) : null
    throw new OptionError(`${patterns.join(' ')}: ${words ?? 'contains no run and no experiment'}`)
  }
  return { name, series: [seriesOf(runs)] }
}

/**
 * Different names for the sides: those of their folders, or of the first folders above in which the paths differ.
 * @param {string[][]} sides patterns of each
 * @returns {string[]}
 */
export const sideNames = (sides) => {
  const named = sides.map(nameOf)
  const isApart = (/** @type {string[]} */ names) => new Set(names).size === names.length
  const paths = sides.map((patterns) => patterns.map((pattern) => resolve(folderOf(pattern)).split('/')))
  const all = paths.flat()
  const shortest = Math.min(...all.map((parts) => parts.length))
  let same = 0
  while (same < shortest && all.every((parts) => parts.at(-1 - same) === all[0].at(-1 - same))) same++
  for (let shown = 1; !isApart(named) && shown + same <= shortest; shown++) {
    const apart = paths.map((side) =>
      side
        .map((parts) =>
          parts
            .slice(0, parts.length - same)
            .slice(-shown)
            .join('/'),
        )
        .join(' '),
    )
    if (isApart(apart)) return apart
  }
  return named
}

/** @param {string[][]} sides patterns of each @returns {Promise<Side[]>} */
export const sidesOf = async (sides) => {
  const names = sideNames(sides)
  return Promise.all(sides.map(async (patterns, at) => ({ ...(await sideOf(patterns)), name: names[at] })))
}
