// A run on a fleet: how a box joins, and which of its writers or readers it is.

import { OptionError } from '../base/errors.js'
import { unlessInterrupted, untilStopped } from '../base/interrupts.js'
import { millraceVersion } from '../base/version.js'
import { boxMs, placeOf } from '../fleet/control.js'
import { readersName } from '../fleet/gather.js'
import { storeInMemory } from '../fleet/interval-store.js'
import { joinFleet } from '../fleet/member.js'
import { sharedByReaders, sharedByWriters } from '../fleet/shared-plan.js'
import { namesOfKind } from '../loads/names.js'
import { tlsOfFiles } from '../servers/access.js'
import { refuseRival } from '../servers/announcements.js'
import { iamAccess, identityOf } from '../servers/iam.js'
import { parseInfo } from '../wire/info.js'
import { leased, leaseWarnings, wantedAgents } from './agents.js'

/**
 * @import { ReaderSettings, Settings } from '../../settings.js'
 * @import { IntervalStore } from '../fleet/box.js'
 * @import { Place } from '../fleet/control.js'
 * @import { Member } from '../fleet/member.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Target } from '../servers/open.js'
 * @import { Announcement } from '../servers/announcements.js'
 * @import { Claim } from './agents.js'
 * @import { Needs } from './run.js'
 *
 * @typedef {object} Gathering
 * @property {Target} target
 * @property {string} run
 * @property {Plan} whole of all writers
 * @property {Announcement} announced
 * @property {IntervalStore} store
 * @property {(line: string) => void} say
 * @property {(warning: Warning) => void} warn
 * @property {AbortSignal} stop
 * @property {AbortSignal} stopNow
 */

/**
 * Where the control is.
 * @param {NonNullable<Settings['control']>} control
 * @param {Pick<Settings, 'awsRegion' | 'caFile' | 'certFile' | 'keyFile'> & { tlsInsecure?: boolean }} settings
 * @param {(line: string) => void} say
 */
export const controlPlace = async ({ tls, url, iam, ...control }, settings, say) => {
  const place = placeOf({ ...control, tls: tls ? tlsOfFiles(settings) : null })
  if (iam === undefined) return place
  const { username, password, host } = control
  if (username ?? password) throw new OptionError('--control: ?iam= takes the place of a user and a password')
  // Anybody on the way could use the token.
  if (!tls) throw new OptionError('--control: ?iam= needs rediss://')
  const identity = identityOf({ iam, host, awsRegion: settings.awsRegion }, process.env, '--control')
  return { ...place, access: await iamAccess(place.access, identity, { say }) }
}

/** The nodes of the target, by which preflight sees that the control server is none of them. @param {Target} target */
const nodesOf = (target) =>
  Promise.all(
    target.reporting().map(async ({ address }) => ({
      address,
      runId: await target.info(address).then(
        (text) => parseInfo(text).fields.run_id ?? null,
        () => null,
      ),
    })),
  )

/** @param {Settings} settings @param {Gathering} gathering */
export const fleetOf = async (settings, { target, run, whole, announced, ...needs }) => {
  const { control, totalAgents, joinWithinMs: withinMs, partial } = settings
  if (!control) return null
  return joinFleet({
    ...needs,
    place: await controlPlace(control, settings, needs.say),
    run,
    kind: 'producer',
    version: millraceVersion(),
    asked: { withinMs, partial },
    writers: totalAgents,
    spacingMs: whole.spacingMs,
    isEven: namesOfKind(whole).inBatches && whole.schedule === 'even',
    stagger: settings.stagger,
    stopsAll: settings.stopAll,
    shared: sharedByWriters(settings, whole, announced),
    targets: await nodesOf(target),
  })
}

/** The control as a target of leases. @param {Place} place */
export const meetingAt = ({ address, access }) =>
  /** @type {Target} */ (
    /** @type {unknown} */ ({ kind: 'single', origin: 'address', topology: { masters: [address] }, access })
  )

/** Claims numbers of writers on the control server. @param {Member} fleet @param {Claim} claim @param {string} [readers] */
const numbersOnFleet = async ({ leasing, clock, named }, { settings, ...claim }, readers) => {
  const { place, group, token } = leasing
  const office = await leased(
    { ...claim, target: meetingAt(place), token, lastMs: boxMs, epochMs: clock.now },
    { ...group, totalAgents: settings.totalAgents, ...(readers && { readers }) },
    wantedAgents(settings, 'address'),
  )
  await named(office.agents)
  return office
}

/**
 * The fleet as a reading box knows it.
 * @param {ReaderSettings} settings
 * @param {Pick<Gathering, 'target' | 'run' | 'store' | 'say' | 'warn' | 'stop' | 'stopNow'>} gathering
 */
const readingFleetOf = async (settings, { target, run, ...needs }) => {
  const { control, joinWithinMs: withinMs } = settings
  if (!control) return null
  return joinFleet({
    ...needs,
    place: await controlPlace(control, settings, needs.say),
    run,
    kind: 'consumer',
    version: millraceVersion(),
    asked: { withinMs, partial: false },
    writers: 0,
    spacingMs: 0,
    isEven: false,
    stagger: false,
    stopsAll: settings.stopAll,
    shared: sharedByReaders(settings),
    targets: await nodesOf(target),
  })
}

/**
 * Lets a reading box join, claims its numbers, and waits until the run begins: its plan is in the target by then.
 * @param {ReaderSettings} settings
 * @param {Needs} needs
 * @param {(step: () => unknown) => void} undo
 */
export const joinToRead = async (settings, { target, run, observer, store, stop, stopNow }, undo) => {
  const { say, warn } = observer
  const gathering = { target, run, store: store ?? storeInMemory(), say, warn, stop, stopNow }
  const fleet = await unlessInterrupted(stop, readingFleetOf(settings, gathering))
  if (!fleet) return null
  undo(() => untilStopped(stopNow, fleet.close(), undefined))
  const claim = { settings, target, run, say, ...leaseWarnings(warn), signal: fleet.signal }
  const readers = await numbersOnFleet(fleet, claim, readersName)
  undo(() => untilStopped(stopNow, readers.release(), undefined))
  const { startMs } = await unlessInterrupted(fleet.signal, fleet.ready())
  const { durationMs, ticks, periodMs, chunks } = JSON.parse(fleet.plan)
  const lengthMs = durationMs ?? (ticks === null ? null : (ticks * periodMs) / chunks)
  return { fleet, readers, startMs, /** @type {number | null} */ lengthMs }
}

/** @typedef {NonNullable<Awaited<ReturnType<typeof joinToRead>>>} Joined */

/**
 * Claims the numbers of writers on the control server, and the plan in the target, where its readers look for it.
 * @param {Member} fleet
 * @param {Claim & { announced: Announcement }} claim
 */
export const claimOnFleet = async (fleet, { announced, settings, target, ...claim }) => {
  const { totalAgents, prefix } = settings
  await refuseRival(target, announced)
  const office = await numbersOnFleet(fleet, { ...claim, settings, target })
  const isLast = async () => fleet.leads()
  const plans = await leased({ ...claim, target, isLast }, { prefix, totalAgents: 0 }, [])
  return {
    agents: office.agents,
    // The control server knows the boxes, so the target needs no leases: that saves 200 commands a second there.
    otherWriters: async () => totalAgents - office.agents.length,
    announce: plans.announce,
    earliest: async () => null,
    begin: async () => {},
    release: async () => {
      await plans.release()
      await office.release()
    },
  }
}
