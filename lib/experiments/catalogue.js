// The experiments that come with Millrace, and those that a user has in a file.
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../base/did-you-mean.js'
import { errorOf, OptionError } from '../base/errors.js'
import { published } from './published.js'
import { experimentIn } from './schema.js'

/** @import { Experiment } from './schema.js' */

const folder = new URL('./definitions/', import.meta.url)

/** In the order of the published work, then the others. @returns {string[]} */
export const experimentIds = () => {
  const known = readdirSync(folder).map((name) => basename(name, '.json'))
  const order = Object.keys(published().experiments)
  const place = (/** @type {string} */ id) => (order.includes(id) ? order.indexOf(id) : order.length)
  return known.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
}

/** Where the definition of an experiment is. @param {string} id */
export const fileOf = (id) => fileURLToPath(new URL(`./${id}.json`, folder))

/** @type {Map<string, Experiment>} */
const read = new Map()

/** @param {string} id @returns {Experiment} */
export const experimentById = (id) => {
  const known = read.get(id) ?? experimentIn(readFileSync(fileOf(id), 'utf8'), `${id}.json`)
  read.set(id, known)
  return known
}

/** An id, or the path of a file. @param {string} word @returns {Experiment} */
export const experimentNamed = (word) => {
  const known = experimentIds()
  if (known.includes(word)) return experimentById(word)
  if (!/[./\\]/.test(word))
    throw new OptionError(
      `no experiment is called '${word}'${didYouMean(word, known)} (millrace experiment list names them; a file of yours needs a path: ./${word}.json)`,
    )
  try {
    return experimentIn(readFileSync(word, 'utf8'), word)
  } catch (cause) {
    if (cause instanceof OptionError) throw cause
    throw new OptionError(`${word} cannot be read (${errorOf(cause).code})`, {
      cause,
    })
  }
}
