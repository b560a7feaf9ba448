// `millrace cleanup`: removes what runs have left under a prefix.
import { optionsOf } from '../../../settings.js'
import { ExitCode, TargetError } from '../../base/errors.js'
import { unlessInterrupted } from '../../base/interrupts.js'
import { count, plainText, several } from '../../base/units.js'
import { accessWarnings } from '../../servers/access.js'
import { clearLeftKeys, leasesUnder } from '../../servers/left-keys.js'
import { openTarget } from '../../servers/open.js'
import { parseInfo } from '../../wire/info.js'
import { withPassword } from '../password.js'
import { screenOf } from '../screen.js'
import { interruptsOfRun } from '../signals.js'

/**
 * @import { CleanupSettings } from '../../../settings.js'
 * @import { LeftKeys } from '../../servers/left-keys.js'
 * @import { Command } from '../commands.js'
 */

const patienceMs = 2000

/** @param {LeftKeys} leftKeys */
const words = ({ master, ours, foreign }) => {
  const keys = Object.values(ours).reduce((sum, n) => sum + n, 0)
  const types = Object.entries(ours).map(([type, n]) => `${count(n)} ${type}`)
  return [
    `${plainText(master)}: ${several(keys, 'key')} of ours${types.length > 0 ? ` (${types.join(', ')})` : ''}`,
    ...(foreign === 1 ? ['1 key with such a name is not ours, and stays'] : []),
    ...(foreign > 1 ? [`${count(foreign)} keys with such names are not ours, and stay`] : []),
  ].join('; ')
}

/** @param {CleanupSettings} settings */
const cleanUp = async (settings) => {
  const { stop } = interruptsOfRun()
  const { prefix, yes } = settings
  const { say, warn } = screenOf({ ...settings, quiet: false, json: false, isRun: false })
  accessWarnings(settings).forEach(warn)
  const target = await unlessInterrupted(stop, openTarget(settings, { say, mayStart: false }))
  try {
    const [first] = target.topology.masters
    const { fields } = parseInfo(await unlessInterrupted(stop, target.info(first)))
    const leases = yes ? await unlessInterrupted(stop, leasesUnder(target, prefix)) : 0
    if (leases > 0)
      throw new TargetError(
        `${target.address}: ${several(leases, 'writer')} under the prefix '${prefix}' still at work (a lease lasts 30 s); end them first`,
        { code: 'LEASED' },
      )
    let shownMs = performance.now()
    const leftKeys = await clearLeftKeys({
      target,
      prefix,
      remove: yes,
      nowMs: Number(fields.server_time_usec) / 1000 || Date.now(),
      onProgress: (looked, removed) => {
        if (performance.now() - shownMs < patienceMs) return
        shownMs = performance.now()
        say(`${several(looked, 'key')} looked at, ${count(removed)} removed`)
      },
      signal: stop,
    })
    const sum = (/** @type {(leftKeys: LeftKeys) => number} */ pick) =>
      leftKeys.reduce((total, each) => total + pick(each), 0)
    const ours = sum(({ ours: types }) => Object.values(types).reduce((total, n) => total + n, 0))
    const removed = sum((each) => each.removed)
    const rest = stop.aborted
      ? '; stopped before the end, run it again for the others'
      : removed < ours
        ? `; expired meanwhile, or removed by another program: ${count(ours - removed)}`
        : ''
    const end = yes
      ? `${several(removed, 'key')} removed${rest}`
      : `nothing was changed: --yes removes these ${several(ours, 'key')}`
    process.stdout.write(`${[...leftKeys.map(words), end].join('\n')}\n`)
    return stop.aborted ? ExitCode.interrupted : ExitCode.done
  } finally {
    await target.close()
  }
}

/** @type {Command} */
export const command = {
  about: {
    does: 'Removes the keys that runs left under a prefix, according to their plans, and nothing else.',
    examples: [
      ['count what would be removed', '--cluster --host cache.example.net --tls'],
      ['remove it', '--cluster --host cache.example.net --tls --yes'],
    ],
  },
  options: optionsOf('cleanup'),
  work: async ({ settings, redact }) => cleanUp(await withPassword(settings, redact)),
}
