// A password typed on the terminal, without echo.
import { InterruptedError, OptionError } from '../base/errors.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Redactor } from '../base/redact.js'
 */

const interrupt = '\u0003'
const endOfInput = '\u0004'

/** @param {{ stdin: NodeJS.ReadStream, stderr: NodeJS.WritableStream }} streams @returns {Promise<string>} */
const askedPassword = ({ stdin, stderr }) =>
  new Promise((resolve, reject) => {
    if (!stdin.isTTY) {
      reject(new OptionError('--ask-password needs a terminal; use REDIS_PASSWORD or --password-file'))
      return
    }
    let typed = ''
    /** @param {() => void} then */
    const end = (then) => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      then()
    }
    const take = (/** @type {string} */ text) => {
      for (const sign of text) {
        if (sign === interrupt) return end(() => reject(new InterruptedError()))
        if (sign === '\r' || sign === '\n' || sign === endOfInput) {
          if (typed === '') return end(() => reject(new OptionError('--ask-password: no password was typed')))
          return end(() => resolve(typed))
        }
        typed = sign === '\u007f' || sign === '\b' ? typed.slice(0, -1) : typed + sign
      }
    }
    stdin.setRawMode(true)
    stdin.setEncoding('utf8')
    stdin.on('data', take)
    stdin.resume()
    // Printed after echo is off: the user may answer at once.
    stderr.write('password: ')
  })

/**
 * The settings with the password that is asked for, where it is.
 * @template {Settings} S
 * @param {S} settings
 * @param {Redactor} redact
 * @returns {Promise<S>}
 */
export const withPassword = async (settings, redact) => {
  if (!settings.askPassword) return settings
  const password = await askedPassword(process)
  redact.learn(password)
  return { ...settings, password }
}
