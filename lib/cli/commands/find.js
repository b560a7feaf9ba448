// `millrace find`: the highest rate that is sustained under limits.
import { strategyNames } from '../../workloads/index.js'
import { findOptions, findRequest, loadOptions, memoryRequest } from '../find-options.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/**
 * @import { Command } from '../commands.js'
 * @import { About } from '../../options/help.js'
 */

/** @type {Omit<About, 'as'>} */
const findAbout = {
  words: '[STRATEGY]',
  does: 'Finds the highest rate at which at least 90 % of the seconds meet your limits, and its 95 % interval, in one run of about three and a half minutes.',
  examples: [
    ['on a local server', "sorted-set --slo 'latency.p99<20ms'"],
    ['your own model, between two rates', "feed.yaml --slo 'latency.p99<5ms' --within 10k..500k --host HOST"],
    ['the least memory of a cache', "cache-aside --rate 10k --over memory --slo 'hit_rate>90%'"],
    ['lookups by 50 clients, for CI', "lookup-get --slo 'latency.p99<2ms' --threshold 'find.low>50k'"],
  ],
  more: `Exit codes: 0 found (and every --threshold met), 99 a threshold failed, 98 cannot tell (the target changed, or is not steady), 4 no rate, or the load generator was the limit. docs/highest-rate.md says how it searches.`,
}

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
