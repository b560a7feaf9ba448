// Operations whose next command may depend on a reply: a cursor, or the keys to read. The commands, the meaning of replies
// and the end of an operation are read off the declaration.

import { commandBytes } from '../../wire/encode.js'
import { progressOf } from '../reply-meanings.js'
import { isAll, isMany, isVariable, keyIn, textOfParts } from './arguments.js'
import { partsOfSlot } from './client.js'

/**
 * @import { Reply } from '../../wire/values.js'
 * @import { Argument, Command } from '../declare.js'
 * @import { Meanings, Progress } from '../reply-meanings.js'
 *
 * @typedef {object} Outgoing
 * @property {string[]} args with the command's name
 * @property {boolean} heeded its reply is read; of the others only whether they are errors
 *
 * @typedef {object} MultiStep one operation under way
 * @property {number} n
 * @property {number} client that plays it
 * @property {() => Outgoing[] | null} next commands to send now; null: it is over
 * @property {() => { bytes: Buffer, replies: number } | null} send the same as bytes
 * @property {boolean} [continues] what is tried again goes on where it was; else it begins anew
 * @property {() => number} [pauseMs] before the next commands
 * @property {() => string | null} [fault] the error of a command of an executed transaction
 * @property {(value: Reply) => void} take the reply to the last of them
 * @property {() => Reply[]} answer what it came to
 * @property {() => number} conflicts transactions of it that were not executed
 */

/** What replies so far make of a variable; null: they make nothing of it. @param {Argument} atom */
const madeByReplies = (atom) => (isVariable(atom) && atom.scope === 'reply' ? (atom.from ?? null) : null)
/** @param {Argument} atom */
const isFound = (atom) => isVariable(atom) && atom.scope === 'reply' && atom.variable === 'found'

/** @param {Argument} argument @param {string} prefix @returns {(n: number, progress: Progress) => string} */
const textOf = (argument, prefix) => {
  const atoms = Array.isArray(argument) ? argument : [argument]
  const makers = atoms.map((atom) => {
    const from = madeByReplies(atom)
    if (from) return (/** @type {number} */ _, /** @type {Progress} */ progress) => from(progress)
    const parts = partsOfSlot(atom, prefix)
    return (/** @type {number} */ n) => textOfParts(parts, ({ forItem }) => forItem?.(n))
  })
  return makers.length === 1 ? makers[0] : (n, progress) => makers.map((make) => make(n, progress)).join('')
}

/** @param {Command} command @param {string} prefix */
const boundOf = (command, prefix) => {
  const slots = command.args.map((slot) => {
    const many = isMany(slot) ? slot.many : isAll(slot) ? [slot.all] : [slot]
    if (many.some(isFound)) return null
    const [first] = many
    if (isVariable(first) && first.list) return first.list
    const makers = many.map((argument) => textOf(argument, prefix))
    return (/** @type {number} */ n, /** @type {Progress} */ progress) =>
      makers.map((make) => make(n, progress))
  })
  return {
    ...command,
    /** Whether it is about keys from replies: without any, it is left out. */
    needsFound: slots.includes(null),
    /** @param {number} n @param {Progress} progress */
    words: (n, progress) => [command.name, ...slots.flatMap((make) => make?.(n, progress) ?? progress.found)],
  }
}

/** @param {readonly Command[]} commands @param {string} prefix @param {Meanings} meanings */
export const multiStepsOf = (commands, prefix, meanings) => {
  const steps = commands.map((command) => boundOf(command, prefix))
  const { family } = keyIn(commands[0].args, commands[0].name)

  /** @param {number} n @param {number} [client] @returns {MultiStep} */
  const begin = (n, client = 0) => {
    const progress = progressOf(n, client)
    let at = 0
    const isOver = { cursor: () => progress.cursor === '0', executed: () => progress.isExecuted }
    /** Continues after the command that was answered. */
    const advance = () => {
      const { until } = steps[at]
      at = until === undefined || isOver[until]() ? at + 1 : 0
    }
    const isLeftOut = () => at < steps.length && steps[at].needsFound && progress.found.length === 0
    const next = () => {
      while (isLeftOut()) advance()
      if (at >= steps.length) return null
      /** @type {Outgoing[]} */
      const out = []
      // Commands that need no reply are sent with the next.
      for (; steps[at].joined; at++) out.push({ args: steps[at].words(n, progress), heeded: false })
      out.push({ args: steps[at].words(n, progress), heeded: true })
      return out
    }
    return {
      n,
      client,
      next,
      send() {
        const commands = next()
        return commands && { bytes: commandBytes(commands.map(({ args }) => args)), replies: commands.length }
      },
      take(value) {
        meanings[/** @type {keyof typeof meanings} */ (steps[at].reply ?? 'done')](progress, value)
        advance()
      },
      answer: () => meanings.answer(progress),
      conflicts: () => progress.conflicts,
    }
  }
  return { begin, hasKey: family !== null }
}
