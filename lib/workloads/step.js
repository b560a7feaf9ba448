// A bound command of an operation: what the drivers play. `bind.js` makes them of a declaration.
import { encode, encodedSize } from '../wire/encode.js'

/**
 * @import { Argument, Hole, Part, TickValues } from '../wire/encode.js'
 *
 * @typedef {(hole: Hole, at: number) => void} Note
 * @typedef {string | Part[]} Key
 *
 * @typedef {object} StepOptions
 * @property {string} [name] of the command; else its first argument
 * @property {number} [keyAt] which argument is the key (1)
 * @property {boolean} [repeatable] false: a command whose reply was lost must not be retried
 * @property {Readonly<Record<string, string>>} [counts] names of what is counted of its replies
 * @property {string} [number] name of the number in them
 *
 * @typedef {object} EachBytes the same command as bytes
 * @property {(n: number) => number} size
 * @property {(n: number, out: Buffer, at: number, values: TickValues, note?: Note) => number} put returns where it ends
 *
 * @typedef {object} GatherBytes
 * @property {(key: Key, ns: number[]) => number} size
 * @property {(key: Key, ns: number[], out: Buffer, at: number, values: TickValues, note?: Note) => number} put
 *
 * @typedef {StepOptions & EachBytes & { kind: 'each', args: (n: number) => Argument[], key: (n: number) => Argument }} EachStep
 * @typedef {StepOptions & GatherBytes & { kind: 'gather', key: (n: number) => Key, args: (key: Key, ns: number[]) => Argument[], max: number }} GatherStep
 * @typedef {StepOptions & { kind: 'once', keys: Key[], args: (key: Key, n: number) => Argument[], everyMs: number, paced: boolean }} OnceStep
 * @typedef {EachStep | GatherStep | OnceStep} Step
 */

/**
 * A command an item.
 * @param {(n: number) => Argument[]} args
 * @param {StepOptions & Partial<EachBytes> & { key?: (n: number) => Argument }} [options] key: without the other arguments
 * @returns {EachStep}
 */
export const eachStep = (args, options) => ({
  kind: 'each',
  args,
  key: (n) => args(n)[options?.keyAt ?? 1],
  size: (n) => encodedSize(args(n)),
  put: (n, out, at, values, note) => encode(args(n), out, at, values, note),
  ...options,
})

/**
 * Many items in one command, one key each, cut at `max` items (0: never).
 * @param {number} max
 * @param {(n: number) => Key} key
 * @param {(key: Key, ns: number[]) => Argument[]} args
 * @param {StepOptions & Partial<GatherBytes>} [options]
 * @returns {GatherStep}
 */
export const gatherStep = (max, key, args, options) => ({
  kind: 'gather',
  max,
  key,
  args,
  size: (name, ns) => encodedSize(args(name, ns)),
  put: (name, ns, out, at, values, note) => encode(args(name, ns), out, at, values, note),
  ...options,
})

/**
 * A command for each key that carries no item; `n` is the first item of what it goes with. Every writer sends it at
 * each of its ticks; with `everyMs` one writer a process does, and not before so much time has passed.
 * `paced`: as many times as `everyMs` has passed since, spread over the portions of a tick, and not at the start.
 * @param {Key[]} keys
 * @param {(key: Key, n: number) => Argument[]} args
 * @param {StepOptions & { everyMs?: number, paced?: boolean }} [options]
 * @returns {OnceStep}
 */
export const once = (keys, args, { everyMs = 0, paced = false, ...options } = {}) => ({
  kind: 'once',
  keys,
  args,
  everyMs,
  paced,
  ...options,
})
