// Where a user's model comes from: lines of --command, a module, or YAML. What was loaded is a strategy like any other.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, resolve } from 'node:path'
import { didYouMean } from '../../base/did-you-mean.js'
import { errorOf, MillraceError, OptionError, unreadable } from '../../base/errors.js'
import { firstFault } from '../../base/json-schema.js'
import { exactly } from '../../base/typed.js'
import { bytes, plainText } from '../../base/units.js'
import { isFamily, shaOrInline } from '../bind/arguments.js'
import { boundStepsOf } from '../bind/writer.js'
import * as words from '../declare.js'
import { familiesOf } from '../derive.js'
import { isStrategy, registerModel, strategyNamed } from '../index.js'
import { keep, ttl, value } from '../latest/parts.js'
import {
  aritySentence,
  isKnown,
  keyFault,
  keyIndexes,
  likeCommand,
  longestLifetimeS,
  mostCommands,
  refusalOf,
  typeOfCommand,
} from './commands.js'
import { random, writer } from './fields.js'
import { meetsSchema, modelOfLines, modelOfYaml, repliesSchema } from './from-text.js'
import { modelDeclaration, sampleFields, scriptsRule } from './model.js'
import { announcedKey } from './patterns.js'
import { scriptFault } from './scripts.js'
import { namePattern } from './template.js'

/**
 * @import { Declaration, Command, Family } from '../declare.js'
 * @import { Source } from './model.js'
 * @import { OwnFields as PlanFields } from './fields.js'
 */

// A model as a module: a function that gets the words of declare.js and returns the fields of a declaration. Errors name
// the line of the file.

const require = createRequire(import.meta.url)

const { strategy, script, familyOf, partsOf, drawn, ...declaring } = words
/** The words that a model's function gets. */
const modelWords = Object.freeze({ ...declaring, value, keep, ttl, writer, random })

const fields = exactly({
  name: 'string',
  title: 'string',
  keys: 'function',
  operations: 'function',
  read: 'object',
  check: 'object',
  repeat: 'string',
  meets: 'object',
})
/** Those of its parts. @type {Record<string, Record<string, string>>} */
const parts = {
  read: { fetch: 'function', ids: 'function', counters: 'function' },
  check: { items: 'function', unchecked: 'function' },
}
const needed = exactly(['title', 'keys', 'operations'])

/** @param {string} path @param {string} text */
const linesOf = (path, text) => {
  const shown = plainText(path)
  const frame = new RegExp(`${basename(path).replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}:(\\d+)`)
  /** @type {WeakMap<object, string>} */
  const made = new WeakMap()
  const inStack = (/** @type {unknown} */ error) => frame.exec(String(errorOf(error).stack ?? ''))?.[1] ?? '1'
  return {
    /** @param {string} line @param {string} sentence @returns {never} */
    refuse: (line, sentence) => {
      throw new OptionError(`${shown}:${line}: ${plainText(sentence)}`)
    },
    /** The line of an error. */
    inStack,
    /** @param {string} name */
    ofField: (name) => {
      const at = text.search(new RegExp(`^\\s*${name}\\s*[:(,]`, 'm'))
      return at < 0
        ? '1'
        : String(text.slice(0, at).split('\n').length + (/^\s*\n/.test(text.slice(at)) ? 1 : 0))
    },
    /** @param {object} one that a word has made */
    lineOf: (one) => made.get(one) ?? '1',
    /** The words, each of which notes where it was used. */
    words: () =>
      Object.fromEntries(
        Object.entries(modelWords).map(([name, word]) => [
          name,
          typeof word !== 'function'
            ? word
            : (/** @type {Loose[]} */ ...args) => {
                const one = Reflect.apply(word, null, args)
                if (typeof one === 'object') made.set(one, inStack(new Error('here')))
                return one
              },
        ]),
      ),
  }
}

/** @typedef {ReturnType<typeof linesOf>} Lines */

/** @template T @param {Lines} lines @param {() => T} make @returns {T} */
const located = (lines, make) => {
  try {
    return make()
  } catch (error) {
    if (error instanceof MillraceError) throw error
    const { message } = errorOf(error)
    return lines.refuse(lines.inStack(error), message.split('\n', 1)[0])
  }
}

/** Which part a field belongs to, as in ` (read.fetch)`. @param {string} name */
const placeOf = (name) => {
  const part = Object.keys(parts).find((one) => Object.hasOwn(parts[one], name))
  return part ? `; write ${part}: { ${name} }` : ''
}

/**
 * @param {object} found
 * @param {Readonly<Record<string, string>>} types
 * @param {Lines} lines
 * @param {string} [of]
 */
const checkFields = (found, types, lines, of = '') => {
  for (const [name, given] of Object.entries(found)) {
    const type = types[name]
    const hint = (of === '' && placeOf(name)) || didYouMean(name, Object.keys(types))
    if (!type) lines.refuse(lines.ofField(name), `unknown field ${of}${name}${hint}`)
    if (typeof given !== type)
      lines.refuse(lines.ofField(name), `${of}${name} must be ${type === 'object' ? 'an' : 'a'} ${type}`)
  }
}

/** @param {string} path @param {Lines} lines */
const fieldsIn = (path, lines) => {
  const exported = located(lines, () => require(resolve(path)))
  const make = exported?.default ?? exported
  if (typeof make !== 'function')
    lines.refuse(
      '1',
      'must export a function: export default ({ family, each, value }) => ({ title, keys, operations })',
    )
  const found = located(lines, () => make(lines.words()))
  if (typeof found !== 'object' || found === null) lines.refuse('1', 'its function returns no declaration')
  checkFields(found, fields, lines)
  for (const [name, of] of Object.entries(parts))
    if (found[name]) checkFields(found[name], of, lines, `${name}.`)
  if (found.read && !found.read.fetch) lines.refuse(lines.ofField('read'), 'read.fetch is missing')
  if (found.check && !found.check.items) lines.refuse(lines.ofField('check'), 'check.items is missing')
  const fault = found.meets && firstFault(found.meets, meetsSchema)
  if (fault) lines.refuse(lines.ofField('meets'), `meets: ${fault.sentence}`)
  for (const name of needed) if (found[name] === undefined) lines.refuse('1', `${name} is missing`)
  return found
}

/** Functions whose errors name a line. @param {Record<string, Loose>} found @param {Lines} lines @returns {Loose} */
const guarded = (found, lines) =>
  Object.fromEntries(
    Object.entries(found).map(([name, given]) => [
      name,
      typeof given === 'function'
        ? (/** @type {unknown[]} */ ...args) => located(lines, () => given(...args))
        : parts[name] && given
          ? guarded(given, lines)
          : given,
    ]),
  )

/** An argument of a file that was not checked yet. @typedef {any} Loose */
/** @param {Loose} slot @returns {unknown[] | undefined} */
const manyIn = (slot) => slot?.many

/** An argument as a text that key positions can be found by. @param {Loose} slot @returns {string[]} */
const textsOf = (slot) => {
  if (slot?.many) return slot.many.flatMap(textsOf)
  if (Array.isArray(slot)) return [slot.flatMap(textsOf).join('')]
  return [typeof slot === 'object' ? (slot?.pattern ?? `{${slot?.variable}}`) : String(slot)]
}

const replySchema = { type: 'object', properties: repliesSchema }

/** @param {Command} command @param {readonly Family[]} families @param {(sentence: string) => never} refuse */
const checkCommand = (command, families, refuse) => {
  if (typeof command?.name !== 'string' || !Array.isArray(command.args))
    return refuse('an operation is a list of each(), gather() and every()')
  const { name, args, counts, number } = command
  const fault = firstFault({ ...(counts && { counts }), ...(number && { number }) }, replySchema)
  if (fault) refuse(`${name}: ${fault.sentence}`)
  const words = args.flatMap((slot) => manyIn(slot) ?? [slot])
  const texts = args.flatMap(textsOf)
  const script = scriptFault(name, texts)
  if (script && 'refused' in script)
    refuse(`${name}: its script calls what a model may not: ${script.refused}`)
  const refusal = refusalOf(name, texts) ?? (isKnown(name) ? aritySentence(name, texts.length + 1) : null)
  if (refusal) refuse(refusal)
  const isOurs = (/** @type {Loose} */ one) => families.includes(one?.all ?? one)
  if (!isKnown(name) && !words.some(isOurs)) refuse(`unknown command ${name}${likeCommand(name)}`)
  const keyed = isKnown(name) ? keyIndexes(name, texts).filter((i) => i < words.length) : []
  const odd = keyed.find((i) => !isOurs(words[i]))
  if (odd !== undefined) refuse(`the key '${texts[odd]}' of ${name} is not among the families of keys`)
  if (!words.some(isOurs))
    refuse(`${name} has no key, and a model's commands are about the keys that it declares`)
  const type = typeOfCommand(name)
  const other = keyed
    .map((i) => words[i])
    .filter(isFamily)
    .find((family) => type && family.type !== type)
  if (other) refuse(`${name} needs a ${type}, but ${other.pattern} is declared a ${other.type}`)
}

/** @param {Declaration} declared @param {Lines} lines */
const checkDeclared = (declared, lines) => {
  const t = sampleFields()
  const k = declared.keys(t)
  const families = familiesOf(k)
  for (const [at, family] of families.entries()) {
    if (family?.family !== 'key') lines.refuse(lines.ofField('keys'), 'keys are made by family()')
    const fault = keyFault(family.pattern)
    if (fault) lines.refuse(lines.lineOf(family), fault)
    if (families.findIndex((one) => one?.pattern === family.pattern) !== at)
      lines.refuse(
        lines.lineOf(family),
        `${family.pattern} is there twice: keys of one pattern are one family`,
      )
    if (Number(family.lifetimeS) > longestLifetimeS)
      lines.refuse(
        lines.lineOf(family),
        `${family.pattern}: ${family.lifetimeS} is no lifetime: keys live for ${longestLifetimeS} seconds at most`,
      )
    if (announcedKey(family) === null)
      lines.refuse(
        lines.lineOf(family),
        `${family.pattern}: a key may vary by {n}, {minute} and numbers of a known range: modulo(), random(), writer()`,
      )
  }
  const { store } = declared.operations(t, k)
  if (!Array.isArray(store) || store.length === 0)
    return lines.refuse(lines.ofField('operations'), 'operations must have store, a list of commands')
  if (store.length > mostCommands)
    lines.refuse(
      lines.ofField('operations'),
      `${store.length} commands are too many: a model has ${mostCommands} at most`,
    )
  for (const command of store)
    checkCommand(command, families, (sentence) => lines.refuse(lines.lineOf(Object(command)), sentence))
  if (store.every(({ kind }) => kind === 'every'))
    lines.refuse(lines.ofField('operations'), 'no command carries an item: one must be each() or gather()')
  for (const command of store)
    try {
      boundStepsOf({ ...declared, operations: () => ({ store: [command] }) }, 'store', t, {
        prefix: '',
        scriptText: shaOrInline,
      })
    } catch (error) {
      lines.refuse(lines.lineOf(command), errorOf(error).message)
    }
  const { asks = [] } = declared.read?.fetch(t, k) ?? {}
  for (const { name, args } of asks)
    if (!args.some((/** @type {Loose} */ arg) => families.includes(arg?.all) || familyIsOurs(families, arg)))
      lines.refuse(lines.ofField('fetch'), `${name} reads no key of keys`)
}

/** A command whose script cannot be read, in a sentence. @param {Declaration} declared @param {Lines} lines @param {string} path */
const unreadIn = (declared, lines, path) => {
  const t = sampleFields()
  for (const command of declared.operations(t, declared.keys(t)).store) {
    const fault = scriptFault(command.name, command.args.flatMap(textsOf))
    if (fault && 'unread' in fault)
      return `${plainText(path)}:${lines.lineOf(command)}: ${command.name}: ${fault.unread}`
  }
  return null
}

/** Whether the family has the same pattern and minute. @param {readonly Family[]} families @param {Loose} arg */
const familyIsOurs = (families, arg) => families.some(({ pattern }) => arg?.pattern === pattern)

/** @param {string} path @param {string} text of the file @param {string} name unless the file names it */
export const modelOfJs = (path, text, name) => {
  const lines = linesOf(path, text)
  const found = fieldsIn(path, lines)
  const declared = located(lines, () => modelDeclaration({ name, ...guarded(found, lines) }))
  located(lines, () => checkDeclared(declared, lines))
  const unread = unreadIn(declared, lines, path)
  return {
    declared: { ...declared, rules: [...declared.rules, scriptsRule(unread)] },
    place: `${plainText(path)}:${lines.ofField('name')}`,
  }
}

// A thousand commands fit, and reading it takes half a second.
const largestYaml = 250_000

/** @param {string} path */
const isYaml = (path) => readers[extname(path)] === modelOfYaml

/** @param {string} path */
const textIn = (path) => {
  try {
    const { size } = statSync(path)
    if (isYaml(path) && size > largestYaml)
      throw new OptionError(
        `${plainText(path)}: ${bytes(size)} are too much: a model has ${bytes(largestYaml)} at most`,
      )
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof OptionError) throw cause
    throw unreadable(path, cause)
  }
}

/** @type {Record<string, typeof modelOfYaml>} */
const readers = {
  '.yaml': modelOfYaml,
  '.yml': modelOfYaml,
  '.js': modelOfJs,
  '.mjs': modelOfJs,
  '.cjs': modelOfJs,
}

/** Whether a word is the path of a model, by its ending. @param {string} word */
export const isModelFile = (word) => !word.includes('=') && extname(word) in readers

/** @param {Declaration} declared @param {string} place @param {Source} source */
const registered = (declared, place, source) => {
  const { name } = declared
  if (!new RegExp(namePattern).test(name))
    throw new OptionError(
      `${place}: the name '${plainText(name).slice(0, 40)}' must be of small letters, digits and dashes, a letter first, at most 40; name the model in the file`,
    )
  if (isStrategy(name) && strategyNamed(name).model === null)
    throw new OptionError(`${place}: ${name} is a built-in strategy; give the model another name`)
  registerModel({ ...declared, model: { digest: declared.model?.digest ?? '', source } })
  return name
}

/** Behind the path of a mix: its reads alone. */
export const onlyReads = '#reads'

/** The strategy of a file, by its name. @param {string} source @param {string} [option] */
export const loadModel = (source, option = '--model: ') => {
  const areReads = source.endsWith(onlyReads)
  const path = areReads ? source.slice(0, -onlyReads.length) : source
  const read = readers[extname(path)]
  if (!read) throw new OptionError(`${option}${plainText(path)} is not a .js or .yaml file`)
  const { declared, place } = read(path, textIn(path), basename(path, extname(path)).toLowerCase(), areReads)
  if (areReads && declared.mix === null)
    throw new OptionError(`${option}${plainText(path)} has no mix, of which only the reads are to be sent`)
  return registered(declared, place, { model: source })
}

/** The strategy of commands, by its name. @param {readonly string[]} lines */
export const loadCommands = (lines) =>
  registered(modelOfLines(lines), '--command', { command: lines.join('\n') })
