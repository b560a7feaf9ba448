// Commands that a server which speaks RESP refuses, and what a run cannot report or check without them. Only strategies
// that need nothing but their own commands run on such a server.
import { errorOf } from '../base/errors.js'

/**
 * @import { Redis } from 'ioredis'
 *
 * @typedef {'INFO' | 'SCAN' | 'TIME' | 'EVAL' | 'HGETALL'} Question
 */

/** @type {readonly { name: Question, ask: (client: Redis) => Promise<unknown>, without: string }[]} */
const questions = [
  {
    name: 'INFO',
    ask: (client) => client.call('INFO', 'server'),
    without:
      'no CPU, memory, network or command counts of the server are reported, and its memory and its keys are not checked',
  },
  {
    name: 'SCAN',
    ask: (client) => client.call('SCAN', '0', 'COUNT', '1'),
    without: 'it is not checked for unknown keys',
  },
  { name: 'TIME', ask: (client) => client.call('TIME'), without: "times are by this machine's clock" },
  {
    name: 'EVAL',
    ask: (client) => client.call('EVAL', 'return 1', '0'),
    without:
      'no lease and no plan are left there, so other writers are not noticed and cleanup cannot find these keys',
  },
  {
    name: 'HGETALL',
    ask: (client) => client.call('HGETALL', 'millrace:plan'),
    without: 'plans that others left there are not read',
  },
]

// An error that every command gets says nothing about this one.
const passing = /^(LOADING|NOAUTH|WRONGPASS|BUSY|MASTERDOWN|CLUSTERDOWN|WRONGTYPE|MOVED|ASK)/

/** @param {unknown} error */
const isRefusal = (error) => {
  const { name, message } = errorOf(error)
  return name === 'ReplyError' && !passing.test(message)
}

/**
 * @param {Redis} client
 * @param {string} address
 * @param {(line: string) => void} say
 * @returns {Promise<ReadonlySet<Question>>}
 */
export const refusedBy = async (client, address, say) => {
  /** @type {Set<Question>} */
  const refused = new Set()
  for (const { name, ask, without } of questions) {
    try {
      await ask(client)
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused.add(name)
      say(`${address} refuses ${name}: ${without}`)
    }
  }
  return refused
}

/** Whether leases and plans can be left there. @param {ReadonlySet<Question>} refused */
export const keepsPlans = (refused) => !refused.has('EVAL') && !refused.has('HGETALL') && !refused.has('TIME')
