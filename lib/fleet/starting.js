// Before a run begins: a reader waits until there is one, everybody waits for the start, and the leader decides on it.

import { InterruptedError, TargetError } from '../base/errors.js'
import { rangesText } from '../base/ranges.js'
import { period, several } from '../base/units.js'
import { decisionOf } from './gather.js'

/**
 * @import { Control } from './control.js'
 * @import { BoxDescription } from './gather.js'
 * @import { Heartbeat } from './heartbeat.js'
 * @import { Needs } from './member.js'
 */

const everyMs = 100
const checkEveryMs = 500
// From the decision on every box has so long to hear of it.
const leadInMs = 1500

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {string} run */
export const runEnded = (run) =>
  new TargetError(
    `--run ${run} has ended: its result is printed by millrace fleet report ${run}; take another --run for a new one`,
    { code: 'RUN_ENDED' },
  )

/**
 * What the writers of a run have said of it, waited for as long as they wait for each other.
 * @param {Control} control
 * @param {Pick<Needs, 'run' | 'asked' | 'say' | 'stop' | 'place'>} needs
 * @returns {Promise<Record<string, string>>}
 */
export const begunRun = async (control, { run, asked, say, stop, place }) => {
  const waitsFrom = performance.now()
  let isSaid = false
  for (;;) {
    if (stop.aborted) throw new InterruptedError()
    const fields = await control.run()
    if (fields.state === 'done') throw runEnded(run)
    if (fields.data !== undefined) return fields
    if (performance.now() - waitsFrom > asked.withinMs)
      throw new TargetError(
        `--run ${run}: no writer has begun it on ${place.address} after ${period(asked.withinMs)} (--join-within); start the writers with the same --run and --control`,
        { code: 'FLEET_MISSING' },
      )
    if (!isSaid) say(`--run ${run}: waiting for its writers (--join-within ${period(asked.withinMs)})`)
    isSaid = true
    await sleep(checkEveryMs)
  }
}

/**
 * For a run that has not begun: the leader decides from what the boxes say.
 * @param {Pick<Needs, 'asked' | 'warn'>} needs
 * @param {{ control: Control, writers: number, live: readonly BoxDescription[], begunMs: number, nowMs: () => number }} known
 */
const decide = async ({ asked, warn }, { control, writers, live, begunMs, nowMs }) => {
  const decision = decisionOf({ live, writers, waitedMs: nowMs() - begunMs, ...asked })
  if ('refused' in decision) await control.set('refused', decision.refused)
  if (!('start' in decision)) return
  if (decision.missing.length > 0)
    warn({
      code: 'fleet-partial',
      message: `begun without writers ${rangesText(decision.missing)} (--partial)`,
      invalidates: false,
    })
  await control.start(Math.ceil(nowMs() + leadInMs))
}

/**
 * Waits until the run begins.
 * @param {Needs} needs
 * @param {object} box
 * @param {Control} box.control
 * @param {Heartbeat} box.heartbeat
 * @param {AbortSignal} box.signal ends the waiting
 * @param {number} box.writers
 * @param {number} box.begunMs
 * @param {() => number} box.nowMs by the control's clock
 * @param {() => Promise<readonly BoxDescription[]>} box.live
 * @param {() => Promise<void>} box.onLead before the first decision
 * @returns {Promise<number>} epoch by the control's clock
 */
export const startOfRun = async (
  { run, kind, asked, say, warn },
  { heartbeat, signal, live, onLead, ...known },
) => {
  const { writers } = known
  const who = kind === 'producer' ? 'all of ' : ''
  let isSaid = false
  let isKnown = false
  for (;;) {
    if (signal.aborted) throw new InterruptedError()
    const { refused, startMs = null } = heartbeat.answer() ?? {}
    if (refused) throw new TargetError(`--run ${run}: ${refused}`, { code: 'FLEET_MISSING' })
    if (startMs !== null) return startMs
    await heartbeat.beat()
    const { startMs: decided = null, stop = '' } = heartbeat.answer() ?? {}
    if (heartbeat.leads() && decided === null && stop === '') {
      if (!isKnown) await onLead()
      isKnown = true
      await live()
        .then((descriptions) => decide({ asked, warn }, { ...known, live: descriptions }))
        .catch(() => {})
    }
    if (!isSaid)
      say(
        `--run ${run}: ready, waiting for ${who}${several(writers, 'writer')} (--join-within ${period(asked.withinMs)})`,
      )
    isSaid = true
    await sleep(everyMs)
  }
}
