// Commands of workers with what a worker knows: its name, how many jobs it takes, and the ids by which it confirms them.

import { scriptBody, scriptSha } from '../lua.js'
import { argumentParts, isScript, isVariable, textOfParts } from './arguments.js'

/**
 * @import { Slot, Work } from '../declare.js'
 *
 * @import { Taken } from '../queue/replies.js'
 * @typedef {Record<string, string | number>} Known of the worker, by the names of variables
 *
 * @typedef {object} BoundWork
 * @property {Work} work
 * @property {(known: Known, jobs?: readonly Taken[]) => string[][]} commands
 * @property {((known: Known, jobs?: readonly Taken[]) => string[][]) | null} withText of a script that the server does not have
 */

/** @param {Slot} slot @returns {boolean} */
const isOfJob = (slot) =>
  Array.isArray(slot) ? slot.some(isOfJob) : isVariable(slot) && ['handle', 'text'].includes(slot.variable)

/** @param {Slot} slot @param {string} prefix @param {Known} known @param {boolean} isText */
const textOf = (slot, prefix, known, isText) => {
  // The whole text with its comments: a server that has loaded it knows its digest.
  const parts = argumentParts(slot, {
    prefix,
    scriptText: ({ script }) => (isText ? scriptBody : scriptSha)(script),
  })
  return textOfParts(parts, ({ variable }) => {
    const value = known[variable]
    if (value === undefined) throw new TypeError(`a worker does not know {${variable}}`)
    return value
  })
}

/** @param {Work} work @param {string} prefix @returns {BoundWork} */
export const boundWork = (work, prefix) => {
  const { name, args } = work
  const eachJob = args.some(isOfJob)
  const hasScript = args.some(isScript)

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
