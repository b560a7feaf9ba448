// Operations of several commands about one key, or keys of one slot: one after the other, with pauses between them, or some together
// as a transaction. Each goes when the one before it was answered.
import { commandBytes } from '../../wire/encode.js'
import { isRead } from '../../wire/read-commands.js'
import { clientCommandOf, leadingCommand } from './client.js'

/**
 * @import { Reply } from '../../wire/values.js'
 * @import { Command, Repeat } from '../declare.js'
 * @import { Outgoing } from './multi-step.js'
 *
 * @typedef {ReturnType<ReturnType<typeof sequenceOf>['multiStep']['begin']>} Sequence one under way
 */

const multi = commandBytes([['MULTI']])
const exec = commandBytes([['EXEC']])

/** Commands that go together. @param {readonly Command[]} commands @param {string} prefix */
const groupOf = (commands, prefix) => {
  const bound = commands.map((command) => clientCommandOf(command, prefix))
  const { isTransaction = false, pauseMs = 0 } = commands[0].sequence ?? {}
  const most = bound.reduce((sum, one) => sum + one.most, multi.length + exec.length)
  return {
    pauseMs,
    isTransaction,
    replies: bound.length + (isTransaction ? 2 : 0),
    /** @param {number} n */
    bytes(n) {
      const out = Buffer.allocUnsafe(most)
      let at = isTransaction ? multi.copy(out) : 0
      for (const one of bound) at = one.put(n, out, at)
      if (isTransaction) at += exec.copy(out, at)
      return out.subarray(0, at)
    },
  }
}

/** The words of commands, for those who read them. @param {Buffer} bytes @returns {Outgoing[]} */
const wordsIn = (bytes) =>
  bytes
    .toString('latin1')
    .split(/(?:^|(?<=\r\n))\*\d+\r\n/)
    .filter(Boolean)
    .map((text) => ({ args: text.split('\r\n').filter((_, i) => i % 2 === 1), heeded: true }))

/**
 * @param {readonly Command[]} commands with their groups, in order
 * @param {Repeat} repeat
 * @param {string} prefix
 */
export const sequenceOf = (commands, repeat, prefix) => {
  const numbers = [...new Set(commands.map(({ sequence }) => sequence?.group))]
  const groups = numbers.map((number) =>
    groupOf(
      commands.filter(({ sequence }) => sequence?.group === number),
      prefix,
    ),
  )
  const [first] = commands
  const { slotOf } = clientCommandOf(first, prefix)

  /** @param {number} n @param {number} [client] */
  const begin = (n, client = 0) => {
    let at = 0
    /** @type {string | null} */
    let fault = null
    return {
      n,
      client,
      continues: true,
      /** Milliseconds to wait before the next commands. */
      pauseMs: () => (at < groups.length ? groups[at].pauseMs : 0),
      next: () => (at < groups.length ? wordsIn(groups[at].bytes(n)) : null),
      /** What goes now; null: it is over. */
      send: () => (at < groups.length ? { bytes: groups[at].bytes(n), replies: groups[at].replies } : null),
      /** @param {Reply} value the reply to the last of them */
      take(value) {
        const error =
          groups[at].isTransaction && Array.isArray(value) ? value.find((one) => one instanceof Error) : null
        if (error instanceof Error) fault = error.message
        at++
      },
      /** A command of a transaction was executed with an error. */
      fault: () => fault,
      answer: () => /** @type {Reply[]} */ ([]),
      conflicts: () => 0,
    }
  }
  return {
    command: leadingCommand(first.name, slotOf),
    repeatable: commands.every((command) => (command.repeat ?? repeat) !== 'never'),
    reads: commands.every(({ name }) => isRead(name.toLowerCase())),
    compared: null,
    multiStep: { begin, hasKey: true },
    isSequence: true,
    fatal: undefined,
  }
}
