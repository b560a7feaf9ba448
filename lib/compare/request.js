// The request of `millrace compare`: two sides, and what both have in common. Pure, except for looking at folders and
// programs.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { namesOf, optionsOf } from '../../settings.js'
import { nameHint } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { optionWords, settableOptions } from '../experiments/options.js'
import { slug } from '../experiments/schema.js'
import { readSettings } from '../options/read-settings.js'
import { findServerBinary } from '../servers/embedded-binary.js'
import { limitOf } from '../servers/open.js'
import { typedLifetime } from '../traffic/lifetimes.js'
import { isStrategy, strategyNamed, strategyNames } from '../workloads/index.js'
import { namesElsewhere } from '../workloads/names-elsewhere.js'
import { isModelFile } from '../workloads/own/load.js'

/**
 * @import { Cell } from '../experiments/matrix.js'
 * @import { Options } from '../experiments/schema.js'
 * @import { Typed } from '../options/command-line.js'
 *
 * @typedef {object} SideRequest
 * @property {string} name
 * @property {Options} options of the writer, beside the common ones
 * @property {string | null} server program
 * @property {[string, string][]} config lines of the servers' configuration
 * @property {string | null} home of another version of Millrace
 * @property {Record<string, string>} words as they were given
 */

const writerOptions = optionsOf('producer')
const ownNames = settableOptions('producer')
// Options of local servers, which are the same for both sides.
const notAddress = ['cluster', 'shards', 'replicas', 'server-bin', 'allow']
const secretNames = ['password', 'ask-password', 'sentinel-password']

/** @param {string} name */
const isTarget = (name) =>
  writerOptions.some(({ name: own, group }) => own === name && group.startsWith('Target')) || name === 'allow'

/** @param {string} name @param {string} side */
const optionNamed = (name, side) => {
  const option = writerOptions.find((each) => namesOf(each).includes(name))
  if (!option || !ownNames.includes(option.name))
    throw new OptionError(
      `${side}: '${plainText(name).slice(0, 40)}' is not an option in which two sides can differ; use options of the producer by their long names (strategy=list), server-bin=PATH, config.NAME=VALUE, millrace=FOLDER or name=LABEL`,
    )
  return option
}

/** @param {string} folder @param {string} side */
const homeIn = (folder, side) => {
  const home = resolve(folder)
  if (!existsSync(join(home, 'producer.js')))
    throw new OptionError(
      `${side}: millrace=${plainText(folder)}: the folder has no producer.js; give that of another version of Millrace`,
    )
  return home
}

/**
 * Reads 'strategy=list config.appendonly=yes'; 'default' has the common options only.
 * @param {string} text
 * @param {string} side A or B, for messages
 * @returns {SideRequest}
 */
export const sideRequest = (text, side) => {
  const words = text.trim().split(/\s+/).filter(Boolean)
  if (words.length === 0)
    throw new OptionError(`${side} is empty: write 'default' for the common options alone`)
  /** @type {string[]} */
  const said = []
  /** @type {SideRequest} */
  const request = { name: '', options: {}, server: null, config: [], home: null, words: {} }
  for (const word of words) {
    if (word === 'default') continue
    const isAlone = isStrategy(word) || isModelFile(word)
    if (isAlone) said.push(word)
    else if (word.includes('=') && !word.startsWith('name=')) said.push(word)
    // A word that is a data model alone names it.
    const [, name, value] =
      /^([^=]+)=(.+)$/s.exec(isAlone ? `${isStrategy(word) ? 'strategy' : 'model'}=${word}` : word) ?? []
    if (word.startsWith('-'))
      throw new OptionError(
        `${side}: write ${plainText(word).replace(/^-+/, '').slice(0, 40)}=VALUE instead of ${plainText(word).slice(0, 40)}`,
      )
    if (name === undefined)
      throw new OptionError(
        `${side}: '${plainText(word).slice(0, 40)}' is neither a data model nor NAME=VALUE${nameHint(plainText(word).slice(0, 40), strategyNames(), namesElsewhere)}`,
      )
    if (name !== 'name') request.words[name === 'model' ? 'strategy' : name] = value
    if (name === 'name') request.name = value
    else if (name === 'server-bin') request.server = findServerBinary(value).file
    else if (name === 'millrace') request.home = homeIn(value, side)
    else if (name.startsWith('config.')) request.config.push([name.slice(7), value])
    else {
      const option = optionNamed(name, side)
      request.options = {
        ...request.options,
        [option.name]: option.type === 'flag' ? value === 'true' : value,
      }
    }
  }
  return { ...request, name: request.name || said.join(' ') || 'default' }
}

/** Options of the writer that both sides may have in common. */
export const commonOptions = writerOptions.filter(({ name }) => ownNames.includes(name) || isTarget(name))

/**
 * The common options of both sides: the load and the target.
 * @param {Typed['options']} typed of the options of the writer
 * @returns {{ load: Options, where: Options }}
 */
export const commonRequest = (typed) => {
  /** @type {Record<string, string | boolean>} */
  const load = {}
  /** @type {Record<string, string | boolean>} */
  const where = {}
  for (const { name, type } of writerOptions) {
    const text = typed.get(name)
    if (text === undefined) continue
    if (secretNames.includes(name))
      throw new OptionError(`--${name}: give the password as REDIS_PASSWORD, or by --password-file`)
    const value = type === 'flag' ? text === 'true' : text
    if (ownNames.includes(name)) load[name] = value
    else if (isTarget(name)) where[name] = value
    else
      throw new OptionError(
        `--${name} behind --: compare sets it; its own options (--duration, --warm-up, --out, --threshold) come before --`,
      )
  }
  return { load, where }
}

/** The target, and the local servers where there is none. @param {Options} where */
export const placeOfSide = (where) => {
  const hasAddress = Object.keys(where).some((name) => !notAddress.includes(name))
  const cluster = where.cluster === true
  const number = (/** @type {string} */ name, /** @type {number} */ otherwise) =>
    where[name] === undefined ? otherwise : Number(where[name])
  const { shards: _, replicas: __, 'server-bin': ___, ...target } = where
  return {
    target: hasAddress ? target : null,
    place: {
      cluster,
      shards: number('shards', cluster ? 3 : 1),
      replicas: number('replicas', cluster ? 1 : 0),
      server: where['server-bin'] === undefined ? null : String(where['server-bin']),
      own: false,
    },
  }
}

/** @param {SideRequest} side @param {string} id @param {{ load: Options, where: Options }} common @returns {Cell} */
export const cellOf = ({ name, options: own, server, config, home }, id, { load, where }) => {
  const { place, target } = placeOfSide(where)
  if (target && (server !== null || config.length > 0))
    throw new OptionError(
      `${name}: server-bin and config. are for local servers; leave out the address, or compare two targets by 'millrace diff'`,
    )
  // --allow is for the target if there is one.
  /** @type {Options} */
  const allowed = target || where.allow === undefined ? {} : { allow: where.allow }
  const { items, ...all } = { ...load, ...allowed, ...own }
  const settings = readSettings({
    program: 'producer',
    argv: [
      ...optionWords(items === undefined ? all : { ...all, items }),
      ...(place.cluster ? ['--cluster'] : []),
      ...(target && where.allow !== undefined ? ['--allow', String(where.allow)] : []),
    ],
    env: {},
  })
  const { options: taken, mix } = strategyNamed(settings.strategy)
  const takes = (/** @type {string} */ key) => !mix || taken.includes(key)
  const limits = limitOf(settings)
  if (target && limits.length > 0)
    throw new OptionError(`${name}: maxmemory is for servers of the run's own; leave out the address`)
  // The servers are the runner's, and with other limits they are others.
  const { maxmemory, policy, ...rest } = all
  // The runner computes with numbers. Options that the file of a mix sets are left out.
  const options = {
    ...rest,
    ...(takes('quantity') && { quantity: settings.quantity }),
    // Keys of clients have a lifetime only where one was given.
    ...(takes('ttlS') && settings.given.ttlS !== 'default' && { ttl: typedLifetime(settings) }),
  }
  return {
    id,
    name,
    variant: null,
    label: null,
    note: null,
    processes: 1,
    ...(home !== null && { home }),
    place: { ...place, server: server ?? place.server, config: [...config, ...limits] },
    legs: [{ name: '', row: id, ratioName: name, options, consumer: null, action: null, published: null }],
  }
}

/** The words in which the sides differ, with a value for each other side. @param {SideRequest} a @param {SideRequest[]} others */
export const requestedDifferences = ({ words: ofA }, ...others) =>
  [...new Set([ofA, ...others.map(({ words }) => words)].flatMap(Object.keys))]
    .filter((name) => others.some(({ words }) => ofA[name] !== words[name]))
    .map((name) => ({
      name,
      baseline: [ofA[name] ?? 'default'],
      other: others.map(({ words }) => words[name] ?? 'default'),
    }))

/** a, b ... z, aa @param {number} at */
export const cellIdOf = (/** @type {number} */ at) =>
  `${at < 26 ? '' : String.fromCharCode(96 + Math.floor(at / 26))}${String.fromCharCode(97 + (at % 26))}`

/**
 * The sides of a comparison by their words; equal names get a letter more.
 * @param {readonly string[]} given
 * @returns {(SideRequest & { id: string })[]}
 */
export const sideRequests = (given) => {
  const sides = given.map((text, at) => ({
    ...sideRequest(text, cellIdOf(at).toUpperCase()),
    id: cellIdOf(at),
  }))
  return sides.map((side) =>
    sides.filter(({ name }) => name === side.name).length > 1
      ? { ...side, name: `${side.name} (${side.id.toUpperCase()})` }
      : side,
  )
}

// Characters of an id in the name of a folder, which begins with the time.
const longestId = 200

/** A name for the folder. @param {SideRequest[]} sides */
export const idOf = (...sides) => {
  const each = Math.max(4, Math.min(24, Math.floor(longestId / sides.length)))
  return ['compare', ...sides.map(({ name }) => slug(name).slice(0, each))].join('-').replace(/-+/g, '-')
}
