// docs/data: what the published tables, ratios and pictures are computed from. A file is newline-delimited JSON:
// first the terms of the measurement, then a line for each turn of an experiment, or for each second of a run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OptionError } from '../../lib/base/errors.js'
import { cellsOf } from '../../lib/experiments/matrix.js'
import { published } from '../../lib/experiments/published.js'
import { experimentDocument, hardware } from '../../lib/experiments/summary.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 * @import { TurnResult } from '../../lib/experiments/summary.js'
 * @import { Fixed } from '../../lib/experiments/store.js'
 *
 * @typedef {Fixed & {
 *   started: string, duration_s: number, command: string, millrace: string, node: string, hardware: string
 * }} ExperimentTerms
 * @typedef {{ address: string, shard: number, role: string, engine_cpu_pct: number | null, over_ms?: number }} NodeSecond
 * @typedef {object} RunTerms
 * @property {string} run
 * @property {string} started
 * @property {number} warm_up_s
 * @property {{ offered: number, acked: number }} items
 * @property {string} hardware
 * @property {string[]} servers versions
 * @property {{ at_ms: number, kind: string, text: string }[]} events
 * @typedef {RunTerms & { seconds: { at_ms: number, backlog?: number | null, between?: number | null, nodes: NodeSecond[] }[] }} RunData
 */

export const dataFolder = fileURLToPath(new URL('../../docs/data/', import.meta.url))

/** @param {string} file */
const linesIn = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** @param {object[]} lines */
const text = (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** @param {string} folder @param {string} name */
const jsonOf = (folder, name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))

/**
 * The results of an experiment, without the figures that no table of it shows.
 * @param {string} folder
 * @returns {Record<string, string>} files of docs/data
 */
const experimentData = (folder) => {
  /** @type {ExperimentDocument} */
  const document = jsonOf(folder, 'experiment.json')
  if (document.warnings.some(({ code }) => code === 'unfinished'))
    throw new OptionError(
      `${folder}: the experiment is not finished; finish it with millrace experiment run --resume`,
    )
  const { finished, target, ...terms } = jsonOf(folder, 'matrix.json')
  const shown = new Set([
    ...document.columns.map(({ name }) => name),
    ...document.ratios.flatMap(({ figure, denominator_figure: other = figure }) => [figure, other]),
  ])
  /** @type {TurnResult[]} */
  const turns = linesIn(join(folder, 'turns.ndjson'))
  const header = {
    ...terms,
    duration_s: document.duration_s,
    command: document.command,
    millrace: document.versions.millrace,
    node: document.versions.node,
    hardware: document.hardware,
  }
  const compact = turns.map(({ legs, timeline: _, ...turn }) => ({
    ...turn,
    legs: legs.map(({ folder: _, figures, ...leg }) => ({
      ...leg,
      figures: Object.fromEntries(Object.entries(figures).filter(([name]) => shown.has(name))),
    })),
  }))
  return { [`${document.id}.ndjson`]: text([header, ...compact]) }
}

/**
 * The CPU and the events of a run over its time; nodes by number, since ports of a local server mean nothing.
 * @param {string} folder
 * @returns {Record<string, string>}
 */
const runData = (folder) => {
  const run = jsonOf(folder, 'run.json')
  const events = join(folder, 'events.ndjson')
  /** @type {any[]} */
  const seconds = linesIn(join(folder, 'intervals.ndjson'))
  const addresses = [
    ...new Set(
      seconds.flatMap(({ nodes = [] }) => nodes.map((/** @type {NodeSecond} */ node) => node.address)),
    ),
  ]
  const nameOf = (/** @type {string} */ address) => `node ${addresses.indexOf(address) + 1}`
  const plain = (/** @type {string} */ words) =>
    addresses.reduce((said, address) => said.replaceAll(address, nameOf(address)), words)
  const header = {
    run: run.run,
    started: run.started,
    warm_up_s: run.warm_up_s,
    // Workers of a queue have jobs.
    ...(run.items && { items: { offered: run.items.offered, acked: run.items.acked } }),
    hardware: hardware(),
    servers: run.versions.servers,
    // run.json has the first of many only, and a run without events has no such file.
    events: (existsSync(events) ? linesIn(events) : []).map((event) => ({
      ...event,
      text: plain(event.text ?? ''),
    })),
  }
  const compact = seconds.map(({ at_ms: atMs, backlog, between, nodes = [] }) => ({
    at_ms: atMs,
    ...(backlog !== undefined && { backlog, between }),
    nodes: nodes.map((/** @type {NodeSecond} */ node) => ({
      address: nameOf(node.address),
      shard: node.shard,
      role: node.role,
      engine_cpu_pct: node.engine_cpu_pct,
      over_ms: node.over_ms,
    })),
  }))
  return { [`${run.run}.ndjson`]: text([header, ...compact]), [`${run.run}.run.json`]: text([run]) }
}

/**
 * The files of docs/data that a folder of results becomes.
 * @param {string} folder of an experiment or of a run
 * @returns {Record<string, string>}
 */
export const dataOf = (folder) => {
  if (existsSync(join(folder, 'experiment.json'))) return experimentData(folder)
  if (existsSync(join(folder, 'run.json'))) return runData(folder)
  throw new OptionError(`${folder}: neither experiment.json nor run.json is there`)
}

/** An experiment computed anew from its turns. @param {string} file @returns {ExperimentDocument} */
const documentIn = (file) => {
  const [terms, ...turns] = /** @type {[ExperimentTerms, ...TurnResult[]]} */ (linesIn(file))
  const { experiment, started, duration_s: durationS, command, millrace, node, hardware } = terms
  const matrix = {
    ...terms,
    cells: cellsOf(experiment, terms),
    published: published().experiments[experiment.published ?? ''] ?? null,
  }
  const document = experimentDocument(matrix, turns, { started, durationS, command, millrace })
  return { ...document, hardware, versions: { ...document.versions, node } }
}

/** Every experiment of docs/data by its id. @param {string} [folder] @returns {Map<string, ExperimentDocument>} */
export const documents = (folder = dataFolder) =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.ndjson'))
      .sort()
      .flatMap((name) => {
        const [{ experiment }] = linesIn(join(folder, name))
        return experiment ? [[experiment.id, documentIn(join(folder, name))]] : []
      }),
  )

/** The turns of an experiment of docs/data. @param {string} id @returns {TurnResult[]} */
export const turnsNamed = (id) => linesIn(join(dataFolder, `${id}.ndjson`)).slice(1)

/** @param {string} name of a run of docs/data @returns {RunData | null} null: it was not taken */
export const runNamed = (name) => {
  const file = join(dataFolder, `${name}.ndjson`)
  if (!existsSync(file)) return null
  const [header, ...seconds] = linesIn(file)
  return { ...header, seconds }
}

/** run.json of a run of docs/data. @param {string} name */
export const runDocumentNamed = (name) => {
  const file = join(dataFolder, `${name}.run.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}
