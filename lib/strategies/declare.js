// The words a strategy is declared with. Both drivers play the same declaration.

/**
 * @typedef {import('../wire/encode.js').Argument} Argument
 * @typedef {import('../wire/encode.js').Part} Part
 * @typedef {string | Part[]} Key
 *
 * @typedef {object} StepOptions
 * @property {number} [keyAt] which argument is the key (1)
 * @property {boolean} [repeatable] false: a command whose answer was lost must not be sent again
 * @property {boolean} [loaded] it calls a script that the servers must have loaded
 * @property {readonly string[]} [runs] the commands that its script runs
 *
 * @typedef {StepOptions & { kind: 'each', args: (n: number) => Argument[] }} EachStep
 * @typedef {StepOptions & { kind: 'gather', key: (n: number) => Key, args: (key: Key, ns: number[]) => Argument[], max: number }} GatherStep
 * @typedef {StepOptions & { kind: 'once', keys: Key[], args: (key: Key, n: number) => Argument[], everyMs: number, paced: boolean }} OnceStep
 * @typedef {EachStep | GatherStep | OnceStep} Step
 */

/** @type {(name: import('../wire/encode.js').HoleName, width: number) => Part} */
const hole = (name, width) => Object.freeze({ hole: name, width })

/** The tick's time in epoch milliseconds. */
export const score = hole('score', 13)
/** Older than this is dead: the tick's time less the ttl. */
export const floor = hole('floor', 13)
/**
 * A command an item.
 * @param {(n: number) => Argument[]} args
 * @param {StepOptions} [options]
 * @returns {EachStep}
 */
export const each = (args, options) => ({ kind: 'each', args, ...options })

/**
 * Many items in one command, one key each, cut at `max` items (0: never).
 * @param {number} max
 * @param {(n: number) => Key} key
 * @param {(key: Key, ns: number[]) => Argument[]} args
 * @param {StepOptions} [options]
 * @returns {GatherStep}
 */
export const gather = (max, key, args, options) => ({ kind: 'gather', max, key, args, ...options })

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
