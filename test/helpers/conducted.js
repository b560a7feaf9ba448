// A run on real servers whose rate a script of steps decides.
import { conductorOf } from '../../lib/run/conductor.js'
import { runOn } from '../../lib/run/run.js'
import { openTarget } from '../../lib/servers/open.js'
import { strategyNamed } from '../../lib/workloads/index.js'
/** @import { TestContext } from 'node:test' */
/** @import { Settings } from '../../settings.js' */
/** @import { Warning } from '../../lib/measures/warnings.js' */

/**
 * @template Answer
 * @param {TestContext} t
 * @param {Settings} settings
 * @param {Pick<Parameters<typeof conductorOf<Answer>>[0], 'machine' | 'judge' | 'graceMs' | 'behindMs'>} playing
 */
export const conducted = async (t, settings, playing) => {
  const { anyServer } = strategyNamed(settings.strategy).play
  const target = await openTarget(settings, { say: () => {}, mayStart: false, anyServer })
  t.after(target.close)
  const warnings = /** @type {Warning[]} */ ([])
  const nothing = () => {}
  const { signal } = new AbortController()
  const conductor = conductorOf({ ...playing, stop: signal, onStep: nothing })
  let answer = /** @type {Answer | null} */ (null)
  const progress = { show: nothing, onEncoding: nothing, onReady: nothing, onEvent: nothing }
  const warn = (/** @type {(typeof warnings)[number]} */ warning) => warnings.push(warning)
  const document = await runOn(settings, {
    ...{ program: 'producer', target, run: 'conducted' },
    observer: { warnings, say: nothing, warn, mayStop: async () => {}, progress },
    linesOf: () => ({ interval: nothing, event: nothing }),
    conductor: {
      ...conductor,
      conduct: async (run) => (answer = await conductor.conduct(run)),
    },
    ...{ untilStored: async () => {}, stop: signal, stopNow: signal },
  })
  return { answer, seconds: conductor.seconds, document: /** @type {any} */ (document) }
}
