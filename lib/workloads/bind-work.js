// Commands of workers with what a worker knows: its name, how many it takes, and what jobs are confirmed by.
import { scriptBody, scriptSha } from './lua.js'

/**
 * @import { Work } from './declare.js'
 *
 * @import { Taken } from './queue/replies.js'
 * @typedef {Record<string, string | number>} Known of the worker, by the names of variables
 *
 * @typedef {object} BoundWork
 * @property {Work} work
 * @property {(known: Known, jobs?: readonly Taken[]) => string[][]} commands
 * @property {((known: Known, jobs?: readonly Taken[]) => string[][]) | null} withText of a script that the server does not have
 */

/** @param {any} slot @returns {boolean} */
const isOfJob = (slot) =>
  Array.isArray(slot) ? slot.some(isOfJob) : ['handle', 'text'].includes(slot?.variable)

/** @param {any} atom @param {string} prefix @param {Known} known @param {boolean} isText @returns {string} */
const textOf = (atom, prefix, known, isText) => {
  if (Array.isArray(atom)) return atom.map((one) => textOf(one, prefix, known, isText)).join('')
  if (typeof atom !== 'object') return String(atom)
  if ('family' in atom)
    return prefix + atom.parts.map((/** @type {any} */ part) => textOf(part, prefix, known, isText)).join('')
  // The whole text, comments too: a server that has had it knows its digest.
  if ('script' in atom) return isText ? scriptBody(atom.script) : scriptSha(atom.script)
  const value = known[atom.variable]
  if (value === undefined) throw new TypeError(`a worker does not know {${atom.variable}}`)
  return String(value)
}

/**
 * @param {Work} work
 * @param {string} prefix
 * @returns {BoundWork}
 */
export const boundWork = (work, prefix) => {
  const { name, args } = work
  const eachJob = args.some(isOfJob)
  const hasScript = args.some((arg) => typeof arg === 'object' && 'script' in arg)

  /** @param {Known} known @param {readonly Taken[]} jobs @param {boolean} isText */
  const one = (known, jobs, isText) => [
    isText ? name.replace('EVALSHA', 'EVAL') : name,
    ...args.flatMap((arg) =>
      typeof arg === 'object' && 'many' in arg
        ? jobs.flatMap((job) => arg.many.map((part) => textOf(part, prefix, { ...known, ...job }, isText)))
        : [textOf(arg, prefix, known, isText)],
    ),
  ]
  /** @param {boolean} isText */
  const making =
    (isText) =>
    (/** @type {Known} */ known, /** @type {readonly Taken[]} */ jobs = []) => {
      if (eachJob) return jobs.map((job) => one({ ...known, ...job }, jobs, isText))
      const command = one(known, jobs, isText)
      return work.repeat === 'take' ? Array.from({ length: Number(known.take) }, () => command) : [command]
    }
  return { work, commands: making(false), withText: hasScript ? making(true) : null }
}
