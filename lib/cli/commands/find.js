// `millrace find`: the highest rate that is sustained under limits.
import { strategyNames } from '../../workloads/index.js'
import { findAbout, findOptions, findRequest, loadOptions, memoryRequest } from '../find-options.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: findAbout,
  options: [...findOptions, ...loadOptions],
  own: findOptions,
  takesWords: true,
  words: () => strategyNames(),
  work: async (asked) => {
    const guidance = { ...interruptsOfRun(), redact: asked.redact, as: asked.as }
    if (asked.settings.over === 'memory')
      return (await import('../find-memory.js')).findMemory(memoryRequest(asked), guidance)
    const request = findRequest(asked)
    const settings = await withPassword(request.settings, asked.redact)
    return (await import('../find.js')).findProgram({ ...request, settings }, guidance)
  },
}
