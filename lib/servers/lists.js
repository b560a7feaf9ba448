import { TargetError } from '../base/errors.js'

/** The list that a command was answered with. @param {string} name of the command @param {unknown} reply */
export const listIn = (name, reply) => {
  if (!Array.isArray(reply)) throw new TargetError(`${name}: the server does not answer as Redis does`)
  return reply
}
