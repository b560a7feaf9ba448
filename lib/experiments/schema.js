// What an experiment's file may hold. Every complaint names the line and the key.

import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { errorOf, OptionError } from '../base/errors.js'
import { exactly } from '../base/typed.js'
import { readSettings } from '../options/read-settings.js'
import { readAs } from '../options/values.js'
import { METRICS, measureNamed } from '../result/metrics.js'
import { strategyNamed } from '../workloads/index.js'
import { missingDriver, optionWords, settableOptions } from './options.js'

/**
 * @import { Settings } from '../../settings.js'
 *
 * @typedef {Readonly<Record<string, string | number | boolean>>} Options by their long names, without dashes
 *
 * @typedef {{ cluster?: boolean, shards?: number, replicas?: number, instance?: string }} Target
 *
 * @typedef {object} Phase a part of one continuous run
 * @property {string} name
 * @property {Options} [options] of the writer; where they stay the same it goes on without a break
 * @property {Options} [consumer] of a consumer that reads meanwhile
 * @property {'remove-shard'} [action] done once; the phase lasts until it is done
 * @property {number} [published] which row of the published experiment, from 0
 *
 * @typedef {object} Case one run, as a row of the matrix
 * @property {string} name
 * @property {string} [label] of the node type, where it is not the name
 * @property {string} [note]
 * @property {Options} [options]
 * @property {Options} [consumer]
 * @property {Phase[]} [phases]
 * @property {number | 'each'} [processes] of the writer; each: a process an agent
 * @property {string} [server] another server, by its name among the peers
 * @property {string} [module] that its servers load, by its name among the peers
 * @property {Readonly<Record<string, string | number>>} [config] lines of the configuration of its servers
 * @property {Target} [target] in place of that of the experiment
 * @property {boolean} [ownTarget] servers that no other case uses
 * @property {string[]} [variants] only these
 * @property {number} [published]
 *
 * @typedef {Pick<Case, 'name' | 'options' | 'processes' | 'server' | 'module' | 'config'>} Variant
 *
 * @typedef {object} Ratio
 * @property {string} [name]
 * @property {string} of a case, or a case and its phase: `case / phase`
 * @property {string} to
 * @property {string} [figure] default: master.cpu_pct
 * @property {string} [toFigure] default: the same
 * @property {number} [published] where it does not follow from the published rows
 * @property {string} [claim] the published conclusion
 * @property {string} [why] what explains it when ours differs
 *
 * @typedef {object} Experiment
 * @property {string} id
 * @property {string} question
 * @property {string} [note]
 * @property {string} [published] id of the published experiment
 * @property {Target} [target]
 * @property {boolean} [scaled] false: --scale leaves it alone
 * @property {Options} [options] of every case
 * @property {Variant[]} [variants] every case is run in each of them
 * @property {Case[]} cells
 * @property {Ratio[]} [ratios]
 * @property {string[]} [columns] figures beside those that every table has
 */

const figureNames = Object.freeze(METRICS.map(({ name }) => name))

// JSON with the lines of its keys, for error messages. JSON.parse decides whether a text is JSON; the parser of YAML finds the
// lines, since JSON is YAML too.
/** @typedef {readonly (string | number)[]} Path */

/** The line on which JSON.parse stopped, as far as it reports it. @param {string} text @param {Error} error */
const faultLine = (text, { message }) =>
  text.slice(0, Number(/position (\d+)/.exec(message)?.[1] ?? text.length)).split('\n').length

/** A member's key, which may be on a line above its value, and the value. @param {unknown} node @param {string | number} part */
const childOf = (node, part) => {
  if (isSeq(node)) return { at: node.items[Number(part)], value: node.items[Number(part)] }
  const pair = isMap(node) && node.items.find(({ key }) => isScalar(key) && key.value === part)
  return pair ? { at: pair.key, value: pair.value } : null
}

/**
 * @param {string} text
 * @returns {{ value: any, fault: null, line: (path: Path) => number, twice: string[] } | { value: null, fault: string, faultLine: number }}
 *   twice: keys that an object has more than once, of which JSON.parse keeps the last without a warning
 */
const readJson = (text) => {
  let value
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const error = errorOf(cause)
    const fault = error.message.replace(/ in JSON at position.*| \(line.*/s, '')
    return { value: null, fault, faultLine: faultLine(text, error) }
  }
  const lineCounter = new LineCounter()
  const { contents, errors } = parseDocument(text, { lineCounter, logLevel: 'silent' })
  const line = (/** @type {Path} */ path) => {
    /** @type {unknown} */
    let node = contents
    /** @type {unknown} */
    let at = contents
    for (const part of path) {
      const child = childOf(node, part)
      if (!child) break
      node = child.value
      at = child.at
    }
    return lineCounter.linePos((isNode(at) && at.range?.[0]) || 0).line
  }
  const twice = errors
    .filter(({ code }) => code === 'DUPLICATE_KEY')
    .map(({ pos: [at] }) => JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(text.slice(at))?.[0] ?? '""'))
  return { value, fault: null, line, twice }
}

/** A name as part of a folder's name. @param {string} text */
export const slug = (text) =>
  text
    .toLowerCase()
    .replace(/(\d),(?=\d{3})/g, '$1')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** @typedef {(value: unknown, path: Path, tell: Tell) => void} Check */
/** @typedef {(path: Path, complaint: string) => void} Tell */

/** @param {string} expected @param {(value: unknown) => boolean} holds @returns {Check} */
const must = (expected, holds) => (value, path, tell) => {
  if (!holds(value)) tell(path, `must be ${expected}`)
}
/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

const words = must('a text', (value) => typeof value === 'string' && value.trim() !== '')
const name = must(
  'a text of at most 60 characters without " / "',
  (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 60 && !value.includes(' / '),
)
const identity = must('small letters, digits and dashes', (value) =>
  /^[a-z0-9][a-z0-9-]{0,59}$/.test(String(value)),
)
/** @param {unknown} value @returns {value is number} */
const isWhole = (value) => Number.isInteger(value)
const flag = must('true or false', (value) => typeof value === 'boolean')
const whole = (/** @type {number} */ from, /** @type {number} */ to) =>
  must(`a whole number from ${from} to ${to}`, (value) => isWhole(value) && value >= from && value <= to)
const positive = must('a number above 0', (value) => typeof value === 'number' && value > 0)
const processes = must(
  '"each", or a whole number from 1 to 64',
  (value) => value === 'each' || (isWhole(value) && value > 0 && value <= 64),
)
/** The whole name of a metric, which may be given in short; null: there is none. @param {unknown} value */
const metricIn = (value) => {
  try {
    const { name } = measureNamed(String(value))
    return figureNames.includes(name) ? name : null
  } catch {
    return null
  }
}
const figure = must(
  `the name of a figure (${figureNames.slice(0, 4).join(', ')} ...; millrace metrics lists them)`,
  (value) => metricIn(value) !== null,
)

/** @param {Check} check @param {number} [least] @returns {Check} */
const listOf =
  (check, least = 1) =>
  (value, path, tell) => {
    if (!Array.isArray(value) || value.length < least) tell(path, `must be a list of at least ${least}`)
    else
      value.forEach((each, i) => {
        check(each, [...path, i], tell)
      })
  }

/** @param {Record<string, Check>} keys @param {string[]} needed @returns {Check} */
const objectOf = (keys, needed) => (value, path, tell) => {
  if (!isObject(value)) return tell(path, 'must be an object')
  for (const key of needed) if (!Object.hasOwn(value, key)) tell(path, `needs "${key}"`)
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(keys, key)) keys[key](value[key], [...path, key], tell)
    else tell([...path, key], `is not a known key; these are: ${Object.keys(keys).join(', ')}`)
  }
}

/** @param {'producer' | 'consumer'} program @returns {Check} */
const optionsOf = (program) => (value, path, tell) => {
  if (!isObject(value)) return tell(path, 'must be an object of options by their long names')
  const allowed = settableOptions(program)
  for (const [key, given] of Object.entries(value)) {
    const at = [...path, key]
    if (!allowed.includes(key)) tell(at, `is not an option that an experiment can set for the ${program}`)
    else if (!['string', 'number', 'boolean'].includes(typeof given))
      tell(at, 'must be a text, a number, true or false')
  }
}

/** @type {Check} */
const config = (value, path, tell) => {
  if (!isObject(value)) return tell(path, "must be an object of a server's configuration")
  for (const [key, given] of Object.entries(value))
    if (readAs('configuration', `${key}=${given}`) === undefined)
      tell([...path, key], 'is not a configuration that an experiment can set')
}

const phase = objectOf(
  {
    name,
    options: optionsOf('producer'),
    consumer: optionsOf('consumer'),
    action: must('"remove-shard"', (value) => value === 'remove-shard'),
    published: whole(0, 100),
  },
  ['name'],
)
const target = objectOf({ cluster: flag, shards: whole(1, 32), replicas: whole(0, 5), instance: words }, [])
const cell = objectOf(
  {
    name,
    label: words,
    note: words,
    options: optionsOf('producer'),
    consumer: optionsOf('consumer'),
    phases: listOf(phase),
    processes,
    server: words,
    module: words,
    config,
    target,
    ownTarget: flag,
    variants: listOf(name),
    published: whole(0, 100),
  },
  ['name'],
)
const variant = objectOf(
  { name, options: optionsOf('producer'), processes, server: words, module: words, config },
  ['name'],
)
const ratio = objectOf(
  {
    name: words,
    of: words,
    to: words,
    figure,
    toFigure: figure,
    published: positive,
    claim: words,
    why: words,
  },
  ['of', 'to'],
)
const experiment = objectOf(
  {
    id: identity,
    question: words,
    note: words,
    published: identity,
    target,
    scaled: flag,
    options: optionsOf('producer'),
    variants: listOf(variant),
    cells: listOf(cell),
    ratios: listOf(ratio, 0),
    columns: listOf(figure, 0),
  },
  ['id', 'question', 'cells'],
)

/** @param {readonly { name: string }[]} list @param {Path} path @param {Tell} tell */
const distinct = (list, path, tell) => {
  const seen = new Set()
  list.forEach((each, i) => {
    if (seen.has(each.name)) tell([...path, i, 'name'], `"${each.name}" is used twice`)
    seen.add(each.name)
  })
}

/** Their results are in folders of these names. @param {readonly { name: string }[]} list @param {Path} path @param {Tell} tell */
const distinctFolders = (list, path, tell) => {
  distinct(list, path, tell)
  /** @type {Map<string, string>} */
  const seen = new Map()
  list.forEach(({ name: own }, i) => {
    const folder = slug(own)
    const other = seen.get(folder) ?? own
    seen.set(folder, other)
    if (folder === '') tell([...path, i, 'name'], 'needs a letter from a to z or a digit, for its folder')
    else if (other !== own)
      tell(
        [...path, i, 'name'],
        `makes the same folder as "${other}": ${folder}; let them differ in letters or digits`,
      )
  })
}

/** The names of a case's rows in ratios. @param {Case} cell */
const rowNames = (cell) =>
  cell.phases ? cell.phases.map((phase) => `${cell.name} / ${phase.name}`) : [cell.name]

/** The servers of a cell. @param {Pick<Experiment, 'target'>} it @param {Pick<Case, 'target'>} cell @returns {Target} */
export const targetOf = ({ target: common }, { target: own }) => ({ ...common, ...own })

/** @param {Target | undefined} target @param {Path} path @param {Tell} tell */
const checkShards = (target, path, tell) => {
  if (target && !target.cluster && (target.shards ?? 1) > 1)
    tell([...path, 'shards'], 'above 1 needs a cluster: "cluster": true')
}

/** Checks the parts that refer to each other. @param {Experiment} it @param {Tell} tell */
const checkTogether = (it, tell) => {
  distinctFolders(it.cells, ['cells'], tell)
  if (it.variants) distinctFolders(it.variants, ['variants'], tell)
  checkShards(it.target, ['target'], tell)
  const rows = it.cells.flatMap(rowNames)
  const variants = it.variants?.map((each) => each.name) ?? []
  it.ratios?.forEach((each, i) => {
    for (const side of exactly(['of', 'to']))
      if (!rows.includes(each[side]))
        tell(['ratios', i, side], `"${each[side]}" is not a row; the rows are ${rows.join(', ')}`)
  })
  it.cells.forEach((cell, i) => {
    checkShards(cell.target && targetOf(it, cell), ['cells', i, 'target'], tell)
    cell.variants?.forEach((each, j) => {
      if (!variants.includes(each)) tell(['cells', i, 'variants', j], `"${each}" is not a variant`)
    })
    if (cell.phases) {
      distinct(cell.phases, ['cells', i, 'phases'], tell)
      if (cell.consumer) tell(['cells', i, 'consumer'], 'must be given in a phase')
      if (cell.processes)
        tell(['cells', i, 'processes'], 'cannot be given with phases, which have one process')
      if (cell.phases.some(({ action }) => action) && !targetOf(it, cell).cluster)
        tell(
          ['cells', i, 'phases'],
          'a shard can be removed from a cluster only: "target": { "cluster": true }',
        )
    }
  })
}

/** @param {Target} target */
const mastersOf = ({ cluster, shards = 3 }) => (cluster ? shards : 1)

/** A script may touch keys of one slot only. @param {Settings} settings @param {number} masters */
const runsOn = ({ strategy, placement }, masters) =>
  masters === 1 || placement === 'spread' || !strategyNamed(strategy).play.oneSlot

/** Checks the options of each run by the rules of the programs. @param {Experiment} it @param {Tell} tell */
const checkOptions = (it, tell) => {
  /** @type {(program: 'producer' | 'consumer', target: Target, places: [Path, Options | undefined][]) => void} */
  const ask = (program, target, places) => {
    const options = Object.assign({}, ...places.map(([, given]) => given))
    const cluster = target.cluster ? ['--cluster'] : []
    /** @type {(complaint: string, names: readonly string[]) => void} */
    const tellOf = (complaint, names) => {
      const found = places.flatMap(([path, given = {}]) =>
        names.filter((name) => Object.hasOwn(given, name)).map((name) => [...path, name]),
      )
      tell(found.at(-1) ?? places.at(-1)?.[0] ?? [], complaint)
    }
    try {
      const settings = readSettings({ program, argv: [...optionWords(options), ...cluster], env: {} })
      if (program === 'producer' && 'strategy' in settings && !runsOn(settings, mastersOf(target)))
        tellOf('a script needs "spread": true on several masters', ['strategy', 'ws', 'sk'])
    } catch (error) {
      if (!(error instanceof OptionError)) throw error
      // Only the runs of a driver that is not installed are skipped.
      if (error.message === missingDriver(options)) return
      tellOf(error.message, [/--(?:with )?([a-z-]+)/.exec(error.message)?.[1] ?? ''])
    }
  }
  it.cells.forEach((cell, i) => {
    const target = targetOf(it, cell)
    const own = (it.variants ?? [{ name: '' }]).flatMap((variant, v) =>
      cell.variants && !cell.variants.includes(variant.name) ? [] : [{ variant, v }],
    )
    for (const { variant, v } of own) {
      /** @type {[Path, Options | undefined][]} */
      const above = [
        [['options'], it.options],
        [['variants', v, 'options'], variant.options],
        [['cells', i, 'options'], cell.options],
      ]
      if (!cell.phases) ask('producer', target, above)
      if (cell.consumer) ask('consumer', target, [[['cells', i, 'consumer'], cell.consumer]])
      cell.phases?.forEach((phase, p) => {
        const at = ['cells', i, 'phases', p]
        ask('producer', target, [...above, [[...at, 'options'], phase.options]])
        if (phase.consumer) ask('consumer', target, [[[...at, 'consumer'], phase.consumer]])
      })
    }
  })
}

/** cells[2].options.period @param {Path} path */
const shown = (path) =>
  path.reduce((/** @type {string} */ text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text ? `${text}.${part}` : part
  }, '') || 'the experiment'

/** @param {Experiment} it @returns {Experiment} */
const withWholeNames = ({ ratios, columns, ...it }) => {
  const whole = (/** @type {string} */ name) => metricIn(name) ?? name
  return {
    ...it,
    ...(ratios && {
      ratios: ratios.map(({ figure, toFigure, ...ratio }) => ({
        ...ratio,
        ...(figure !== undefined && { figure: whole(figure) }),
        ...(toFigure !== undefined && { toFigure: whole(toFigure) }),
      })),
    }),
    ...(columns && { columns: columns.map(whole) }),
  }
}

/** The experiment that a text holds. @param {string} text @param {string} source for the complaints @returns {Experiment} */
export const experimentIn = (text, source) => {
  const read = readJson(text)
  if (read.fault !== null) throw new OptionError(`${source}, line ${read.faultLine}: ${read.fault}`)
  /** @type {string[]} */
  const complaints = read.twice.map((key) => `${source}: "${key}" is used twice in one object`)
  /** @type {Tell} */
  const tell = (path, complaint) => {
    const line = `${source}, line ${read.line(path)}: ${shown(path)} ${complaint}`
    if (!complaints.includes(line)) complaints.push(line)
  }
  experiment(read.value, [], tell)
  if (complaints.length === 0) checkTogether(read.value, tell)
  if (complaints.length === 0) checkOptions(read.value, tell)
  if (complaints.length > 0) throw new OptionError(complaints.slice(0, 5).join('; '))
  return Object.freeze(withWholeNames(read.value))
}
