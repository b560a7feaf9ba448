// A command on its own connection.
import { TargetError } from '../base/errors.js'
import { replyCounter } from '../wire/decode.js'
import { commandBytes } from '../wire/encode.js'

/** @import { Target } from './open.js' */

/**
 * A command that may take longer than a control connection waits.
 * @param {Pick<Target, 'dial'>} target
 * @param {string} address
 * @param {string[]} args
 */
export const longCommand = async (target, address, args) => {
  const fault = (/** @type {string} */ why) => new TargetError(`${address}: ${args.join(' ')}: ${why}`)
  /** @type {() => void} */
  let done = () => {}
  /** @type {(error: Error) => void} */
  let failed = () => {}
  const answered = new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    done = resolve
    failed = reject
  })
  const onBytes = replyCounter({ done: () => done(), failed: (line) => failed(fault(line)) })
  const onClose = () => failed(fault('the connection was lost'))
  const socket = await target.dial(address, { onBytes, onClose })
  socket.write(commandBytes([args]))
  await answered.finally(() => socket.destroy())
}
