// Where a user's model comes from: lines of --command, a module, or YAML. What was loaded is a strategy like any other.
import { readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { errorOf, OptionError } from '../../base/errors.js'
import { bytes, plainText } from '../../base/units.js'
import { isStrategy, registerModel, strategyNamed } from '../index.js'
import { modelOfJs } from './from-js.js'
import { modelOfLines, modelOfYaml } from './from-text.js'
import { namePattern } from './schema.js'

/**
 * @import { Declaration } from '../declare.js'
 * @import { Source } from './model.js'
 */

// A thousand commands fit, and reading it takes half a second.
const largestYaml = 250_000

/** @param {string} path */
const isYaml = (path) => readers[extname(path)] === modelOfYaml

/** @param {string} path @param {string} option that named it, with ': '; empty: it was a word of the line */
const textIn = (path, option) => {
  try {
    const { size } = statSync(path)
    if (isYaml(path) && size > largestYaml)
      throw new OptionError(
        `${plainText(path)}: ${bytes(size)} are too much: a model has ${bytes(largestYaml)} at most`,
      )
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (cause instanceof OptionError) throw cause
    const { code } = errorOf(cause)
    throw new OptionError(`${option}cannot read ${plainText(path)} (${code})`, { cause })
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
  const { declared, place } = read(
    path,
    textIn(path, option),
    basename(path, extname(path)).toLowerCase(),
    areReads,
  )
  if (areReads && declared.mix === null)
    throw new OptionError(`${option}${plainText(path)} has no mix, of which only the reads are to be sent`)
  return registered(declared, place, { model: source })
}

/** The strategy of commands, by its name. @param {readonly string[]} lines */
export const loadCommands = (lines) =>
  registered(modelOfLines(lines), '--command', { command: lines.join('\n') })
