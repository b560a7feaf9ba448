// A model in lines, as --command gives them, or in YAML.
import { createRequire } from 'node:module'
import { errorOf, OptionError } from '../../base/errors.js'
import { firstFault } from '../../base/json-schema.js'
import { plainText } from '../../base/units.js'
import { compile } from './compile.js'
import { declarationOf } from './declared.js'
import { linesOf, mixSchema, modelOfMix } from './mix-text.js'
import { schema } from './schema.js'
import { parsed, patternOf, templateParts } from './template.js'

/**
 * @import { Document, Node } from 'yaml'
 * @import { CommandText, Lifetime } from './compile.js'
 * @import { Place } from './template.js'
 *
 * @typedef {any} Loose a node of the document
 * @typedef {Pick<CommandText, 'per' | 'retry' | 'counts' | 'number'> & { command: string, every?: string }} SaidCommand
 * @typedef {object} ModelFile as the schema has it
 * @property {Record<string, string | { type: string, lifetime?: Lifetime }>} [keys]
 * @property {{ ids: string, id?: string, value?: string }} [read]
 */

const longestTitle = 120
/** @type {Record<string, number>} */
const unitMs = { ms: 1, s: 1000, m: 60_000 }

/** @param {readonly string[]} texts */
const titleOf = (texts) => {
  const title = plainText(texts.join('; '))
  return title.length > longestTitle ? `${title.slice(0, longestTitle)}...` : title
}

/** `zadd-setex` of the commands' names. @param {readonly string[]} lines */
const nameOfLines = (lines) => {
  const names = lines.map((line) => /\S+/.exec(line)?.[0] ?? '')
  const name = [...new Set(names)]
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '')
  return /^[a-z]/.test(name) ? `own-${name}`.slice(0, 40) : 'own'
}

/** @param {readonly string[]} lines one command each */
export const modelOfLines = (lines) => {
  const model = {
    name: nameOfLines(lines),
    title: titleOf(lines),
    keys: null,
    read: null,
    place: () => '--command',
    write: lines.map((text) => ({ text, place: placeInLine(text) })),
  }
  return declarationOf(model, compile(model))
}

/** @param {string} text @returns {Place} */
const placeInLine = (text) => (at) =>
  `--command '${plainText(text)}'${at === undefined ? '' : `, character ${at + 1}`}`

/** @param {string} path @param {string} text */
const placesIn = (path, text) => {
  // Loaded only for a file: a run without one starts 12 ms sooner.
  /** @type {typeof import('yaml')} */
  const { LineCounter, parseDocument } = createRequire(import.meta.url)('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (/** @type {number} */ offset) => {
    const { line, col } = lines.linePos(offset)
    return `${plainText(path)}:${Math.max(1, line)}:${Math.max(1, col)}`
  }
  /** The characters of a scalar. @param {Loose} node @returns {Place} */
  const valueIn = (node) => {
    const start = node?.range?.[0] ?? 0
    const value = typeof node?.value === 'string' ? node.value : null
    const from = [start, start + 1].find((begin) => value !== null && text.startsWith(value, begin))
    return (inside) => at(from === undefined ? start : from + (inside ?? 0))
  }
  const node = (/** @type {(string | number)[]} */ path) =>
    path.length === 0 ? document.contents : document.getIn(path, true)
  /** The name of an entry. @param {(string | number)[]} path */
  const nameAt = (path) => {
    /** @type {Loose} */
    const parent = node(path.slice(0, -1))
    const pair = parent?.items?.find((/** @type {Loose} */ one) => one.key?.value === path.at(-1))
    return valueIn(pair?.key ?? parent)
  }
  return { document, at, place: (/** @type {(string | number)[]} */ path) => valueIn(node(path)), nameAt }
}

/** @param {Document} document @param {Place} place */
const plainDataOf = (document, place) => {
  try {
    return document.toJS()
  } catch (error) {
    // Aliases that expand to millions of values.
    throw new OptionError(`${place()}: ${plainText(errorOf(error).message.split('\n', 1)[0])}`, {
      cause: error,
    })
  }
}

/** @param {string} text */
const everyMsOf = (text) => {
  const [, digits, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
  return Number(digits) * unitMs[unit]
}

/** The pattern that a name of `keys` stands for. @param {string} text @param {Place} place */
const keyPattern = (text, place) => patternOf(parsed({ text, place }, templateParts))

/** @param {ModelFile} data @param {ReturnType<typeof placesIn>} places */
const keysIn = (data, { nameAt }) =>
  data.keys === undefined
    ? null
    : new Map(
        Object.entries(data.keys).map(([name, said]) => {
          const place = nameAt(['keys', name])
          const { type, lifetime = null } = typeof said === 'string' ? { type: said } : said
          return [keyPattern(name, place), { type, lifetime, place }]
        }),
      )

/** @param {ModelFile} data @param {ReturnType<typeof placesIn>} places */
const readIn = ({ read }, { place }) => {
  if (read === undefined) return null
  const part = (/** @type {'id' | 'value'} */ name) =>
    read[name] === undefined ? null : { text: read[name], place: place(['read', name]) }
  return { ids: { text: read.ids, place: place(['read', 'ids']) }, id: part('id'), value: part('value') }
}

/**
 * @param {string} path
 * @param {string} text
 * @param {string} name unless the file names it
 * @param {boolean} [onlyReads] of a mix
 */
export const modelOfYaml = (path, text, name, onlyReads = false) => {
  const places = placesIn(path, text)
  const { document, at, place, nameAt } = places
  const [error] = document.errors
  if (error) throw new OptionError(`${at(error.pos[0])}: ${plainText(error.message.split('\n', 1)[0])}`)
  const data = plainDataOf(document, place([]))
  const isMix = data?.mix !== undefined
  const fault = firstFault(data, isMix ? mixSchema : schema)
  if (fault) {
    const where = fault.extra === null ? place(fault.path) : nameAt([...fault.path, fault.extra])
    throw new OptionError(`${where()}: ${fault.sentence}`)
  }
  if (isMix) {
    const lines = data.mix.map((/** @type {import('./mix-text.js').MixEntry} */ entry) =>
      linesOf(entry).join('; '),
    )
    const title = titleOf(data.title ? [data.title] : lines)
    return {
      declared: modelOfMix(data, { name: data.name ?? name, title, onlyReads, place, nameAt }),
      place: place(['name'])(),
    }
  }
  const write = data.write.map((/** @type {string | SaidCommand} */ one, /** @type {number} */ i) => {
    const isLine = typeof one === 'string'
    /** @type {SaidCommand} */
    const { command, every, per, retry, counts, number } = isLine ? { command: one } : one
    return {
      text: command,
      place: place(isLine ? ['write', i] : ['write', i, 'command']),
      everyMs: every === undefined ? undefined : everyMsOf(every),
      per,
      retry,
      counts,
      number,
    }
  })
  const model = {
    name: data.name ?? name,
    title: titleOf(data.title ? [data.title] : write.map((/** @type {CommandText} */ one) => one.text)),
    meets: data.meets,
    keys: keysIn(data, places),
    read: readIn(data, places),
    place: place(['write']),
    write,
  }
  return { declared: declarationOf(model, compile(model)), place: place(['name'])() }
}
