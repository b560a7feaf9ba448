// What verifies the values read, and until when.
import { sleep } from '../../base/settlement.js'
import { liveShareOf } from '../../probes/live-share.js'
import { valueVerifierOf } from '../../probes/value-verifier.js'
import { planWatch } from './announcement-watch.js'

/**
 * @import { RunClock } from '../../probes/run-clock.js'
 * @import { ReadDriver } from '../../transport/read-driver.js'
 * @import { IdList } from '../../wire/id-list.js'
 * @import { Reader } from '../../workloads/bind/reader.js'
 * @import { ValueCommand } from '../../workloads/declare.js'
 * @import { ReaderRun } from './open.js'
 */

const nothing = () => {}

/** The value of an id on its master, or null. @param {ReadDriver} driver @param {ValueCommand} command */
const masterReader =
  (driver, command) =>
  async (/** @type {string} */ id, /** @type {(value: Buffer | null) => void} */ sink) => {
    await driver.askMaster([command.name, id, ...command.after], id, {
      open: nothing,
      number: nothing,
      error: nothing,
      bulk: (bytes, from, to) => sink(bytes.subarray(from, to)),
      nil: () => sink(null),
    })
  }

/**
 * Verifies values as long as the plan they are checked against is the one being written.
 * @param {ReaderRun} run
 * @param {{ driver: ReadDriver, reader: Reader, clocks: Pick<RunClock, 'at'>, planNow: () => number }} reading
 */
export const verifierOf = (
  { plan, announced, readAnnouncements, warn },
  { driver, reader, clocks, planNow },
) => {
  let judging = plan.verify
  const again = reader.value ?? reader.again ?? null
  const liveShare = liveShareOf({ announced, limit: plan.limit, dated: reader.dated, now: planNow })
  const watch = planWatch({
    announced,
    onCheck: liveShare.checked,
    read: readAnnouncements,
    now: planNow,
    onChanged: () => {
      judging = false
      warn({
        code: 'plan-changed',
        message:
          'another plan has been written under this prefix since then: what was read after that is not verified',
        invalidates: plan.verify,
      })
    },
    onAppeared: ({ strategy }) => {
      const other = strategy !== plan.strategy
      if (!other && plan.knowsBytes) return
      warn({
        code: 'plan-appeared',
        message: `a writer of ${strategy} started after this consumer${other ? `, which reads ${plan.strategy}` : ''}; start the consumer again to read by the writer's plan`,
        invalidates: other || plan.verify,
      })
    },
    sleep,
  })
  const verifier = plan.verify
    ? valueVerifierOf({
        plan,
        reader,
        nowAt: clocks.at,
        readAtMaster: again && masterReader(driver, again),
        wasRewritten: watch.wasRewritten,
        sleep,
      })
    : null
  const inspector = verifier && {
    inspect: (/** @type {IdList} */ list, /** @type {string} */ server) =>
      judging ? verifier.inspect(list, server) : { value: nothing, nil: nothing },
  }
  return { watch, verifier, inspector, liveShare }
}
