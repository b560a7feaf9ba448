// Servers whose writers and readers are commands in the process of the test.
import { stageOf } from '../../scripts/faults/stage.js'
import { atEnd } from './at-end.js'
import { startCommand } from './command-here.js'

/** @import { Scope } from './servers.js' */

const commands = /** @type {Record<string, string>} */ ({
  'producer.js': 'write',
  'consumer.js': 'read',
  'scripts/verify.js': 'verify',
})

/** Ends with the test or the suite. @param {Scope} t @param {{ cluster?: boolean }} [servers] */
export const stageHere = async (t, { cluster } = {}) => {
  const stage = await stageOf({
    cluster,
    startProgram: (name, args, env) => {
      let isRunning = true
      const { ended, kill, stdout, stderr } = startCommand(t, [commands[name], ...args], { env, out: false })
      const code = ended.then((end) => {
        isRunning = false
        return end.code
      })
      return { ended: code, kill, isRunning: () => isRunning, text: stdout, log: stderr }
    },
  })
  atEnd(t, () => stage.close())
  return stage
}
