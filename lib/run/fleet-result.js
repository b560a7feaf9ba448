// The result of a run on a fleet: each box stores its final report, and the leading box makes the result of all.
import { gunzipSync, gzipSync } from 'node:zlib'
import { untilStopped } from '../base/interrupts.js'
import { sleep } from '../base/settlement.js'
import { descriptionsIn } from '../fleet/gather.js'
import { secondOf } from '../fleet/interval.js'
import { leaderOf } from '../fleet/lead.js'
import { partsOfFleet } from '../fleet/merged.js'
import { readersOfFleet } from '../fleet/readers.js'
import { readsName } from '../measures/index.js'
import { documentWith } from '../result/facts.js'
import { strategyOf } from '../workloads/bound-strategy.js'

/**
 * @import { Control } from '../fleet/control.js'
 * @import { BoxDescription } from '../fleet/gather.js'
 * @import { Member } from '../fleet/member.js'
 * @import { StoredData } from '../probes/memory-cost.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { RunDocument } from '../result/document.js'
 * @import { Facts } from '../result/facts.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Signals } from '../base/settlement.js'
 * @import { Run } from '../measures/section.js'
 * @import { Folded } from '../measures/fold.js'
 * @import { curveIn } from './write-result.js'
 * @import { Presence } from '../probes/presence.js'
 *
 * @typedef {{ document: RunDocument, facts: Facts }} Shared the result of
 *   all, and what it is made of besides the seconds
 */

/**
 * How many writers sent a second, over the merged seconds of a run: whether all were there all the time.
 * @param {number} total writers of the plan
 */
const fleetPresence = (total) => {
  /** @type {Map<number, number>} */
  const by = new Map()
  return {
    /** A line may cover only a part of its second. @param {number} second @param {number} writers */
    add(second, writers) {
      by.set(second, (by.get(second) ?? 0) + writers)
    },
    /** For the seconds from one to another, excluding the last. @param {number} from @param {number} to @returns {Presence} */
    summary(from, to) {
      const counts = Array.from({ length: Math.max(0, to - from) }, (_, i) =>
        Math.min(total, by.get(from + i) ?? 0),
      )
      const absent = counts.filter((n) => n < total).length
      return {
        total,
        own: total,
        fewest: counts.length > 0 ? Math.min(...counts) : null,
        mean: counts.length > 0 ? counts.reduce((sum, n) => sum + n, 0) / counts.length : null,
        measured_s: counts.length,
        absent_s: absent,
        unknown_s: 0,
        before: 0,
        steady: counts.length > 0 && absent === 0,
      }
    },
  }
}

// A control server that does not answer at the end is waited for this long.
const awayLimitMs = 60_000
const everyMs = 200
// A box without a lease for this long counts as lost.
const lostMs = 1500
const secondsAPage = 500
// A box that began later has not played all of its part.
const lateS = 0.5

/** Lines of the merged seconds, a page at a time. @param {Control} control */
export const pagesOfSeconds = async function* (control) {
  for (let from = 0; ; from += secondsAPage) {
    const texts = await control.client.lrange(control.keys.seconds, from, from + secondsAPage - 1)
    if (texts.length > 0) yield texts.map((text) => JSON.parse(text))
    if (texts.length < secondsAPage) return
  }
}

/** @param {Record<string, string>} texts @returns {Folded} */
const parsed = (texts) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, JSON.parse(text)]))

/** @param {Omit<ReturnType<typeof partsOfFleet>, 'sections' | 'sums'>} parts @param {ReturnType<typeof readersOfFleet>} reading */
const withReaders = (parts, reading) => {
  if (!reading) return parts
  const { notes, events, ...readers } = reading
  return {
    ...parts,
    readers,
    warnings: [...(parts.warnings ?? []), ...notes],
    events: [...parts.events, ...events].sort((a, b) => a.at_ms - b.at_ms),
  }
}

/** @typedef {(about: Parameters<typeof curveIn>[1]) => ReturnType<typeof curveIn>} CurveOf */

/**
 * The miss ratio curve of the requests of all boxes: each draws by its seed, and is due when it is known to be. Where one was not
 * there all the time, or sent as fast as it could, which requests came is not known.
 * @param {Plan} plan of all
 * @param {ReturnType<typeof partsOfFleet>} parts
 * @param {CurveOf | undefined} curve
 */
const curveOfAll = async (plan, { fleet, items, durationS, sections: { cache } }, curve) => {
  const areWhole =
    fleet.boxes.length === plan.totalAgents &&
    fleet.boxes.every(
      (/** @type {{ state: string, from_s: number }} */ one) => one.state === 'done' && one.from_s < lateS,
    )
  if (!plan.cache || !curve || !areWhole || plan.nominalHz === null) return null
  const { offered } = items
  return curve({ plan, offered, fromMs: plan.warmUpMs, endMs: durationS * 1000, measured: cache })
}

/**
 * Makes the result of what the control has, and stores it there.
 * @param {object} needs
 * @param {Control} needs.control
 * @param {string} needs.address of the control
 * @param {string} needs.box that leads
 * @param {string} needs.run
 * @param {StoredData | null} [needs.after]
 * @param {CurveOf} [needs.curve] of a cache; none: no box is left that reaches its servers
 * @returns {Promise<Shared | null>} null: another box leads
 */
export const makeResult = async ({ control, address, box, run, after = null, curve }) => {
  const fields = await control.run()
  const leader = leaderOf({ control, box, data: () => fields.data })
  const checkpoint = (await leader.foldNew()) && (await leader.foldNew({ isLast: true }))
  leader.close()
  if (!checkpoint) return null
  /** @type {{ plan: Plan, slotTable: number, thresholds: string[], [about: string]: unknown }} */
  const { plan, slotTable, thresholds, ...about } = JSON.parse(fields.about)
  const presence = fleetPresence(plan.totalAgents)
  for await (const lines of pagesOfSeconds(control))
    for (const line of lines) presence.add(secondOf(line.at_ms), line.writers)
  const [descriptions, ends] = await Promise.all([control.boxes(), control.ends()])
  const strategy = strategyOf(plan)
  const readingPlan = fields.reading ? JSON.parse(fields.reading) : null
  const made = partsOfFleet({
    plan,
    slotTable,
    after,
    checkpoint,
    control: address,
    startMs: Number(fields.start),
    strategy,
    descriptions: descriptionsIn(descriptions),
    ends: parsed(ends),
    presence: presence.summary,
    before: fields.before ? JSON.parse(fields.before) : null,
    idle: fields.idle ? JSON.parse(fields.idle) : { why: 'the box that led at the start did not report it' },
  })
  const reading = readersOfFleet({
    descriptions: descriptionsIn(descriptions),
    ends: parsed(ends),
    checkpoint,
    plan: readingPlan,
  })
  const { sections, sums, ...parts } = made
  const miss_curve = await curveOfAll(plan, made, curve)
  const known = {
    ...about,
    ...withReaders(parts, reading),
    ...(miss_curve && { miss_curve }),
    kind: 'producer',
    run,
  }
  /** @type {Facts} */
  const facts = { schema: 1, parts: known, thresholds, sums }
  const document = documentWith(facts, sections)
  await control.finish(gzipSync(JSON.stringify({ document, facts })))
  return { document, facts }
}

/** @param {Buffer | null} result @returns {Shared | null} */
export const sharedIn = (result) => (result === null ? null : JSON.parse(String(gunzipSync(result))))

/** Boxes that have not reported their end and are not lost. @param {Member} fleet */
const endsOf = (fleet) => {
  /** @type {Map<string, number>} since when a box has no lease */
  const missed = new Map()
  return async () => {
    const [{ descriptions, live }, ends] = await Promise.all([fleet.live(), fleet.control.ends()])
    const boxes = descriptions.filter(({ agents }) => agents.length > 0)
    const nowMs = performance.now()
    return boxes.filter(({ id }) => {
      if (id in ends) return false
      if (live.some((one) => one.id === id)) missed.delete(id)
      else if (!missed.has(id)) missed.set(id, nowMs)
      return nowMs - (missed.get(id) ?? nowMs) < lostMs
    })
  }
}

/** The final report of a box. @param {Run} parts of its own result @param {readonly Warning[]} warnings */
const endOf = (parts, warnings) => {
  const { own, events, durationS, interrupted } = parts
  const common = { measured: own.measured, warnings, interrupted, events }
  if (parts.kind === 'consumer') {
    const { live, uniqueness, sections } = parts
    const [fromMs, endMs] = [own.fromMs, own.fromMs + durationS * 1000]
    return { ...common, from_ms: fromMs, end_ms: endMs, reads: sections[readsName], live, uniqueness }
  }
  const { clocks, written, sections } = parts
  return {
    ...common,
    sums: own.sums,
    end_ms: durationS * 1000,
    behind_ms: own.behindMs,
    latency_us: sections.latency_us,
    clocks,
    written,
  }
}

/** @param {readonly BoxDescription[]} descriptions */
const namesOf = (descriptions) =>
  descriptions
    .map(
      ({ host, agents, kind }) =>
        `${kind === 'producer' ? 'writer' : 'reader'} ${agents.join(', ')} (${host})`,
    )
    .slice(0, 5)
    .join(', ')

/**
 * For the leading box: makes the result once all boxes have reported or are lost.
 * @param {Member} fleet
 * @param {Run} parts
 * @param {(line: string) => void} say
 */
const leaderOfEnd = (fleet, { own }, say) => {
  const runningBoxes = endsOf(fleet)
  let isSaid = false
  const make = () =>
    makeResult({
      control: fleet.control,
      address: fleet.place.address,
      run: fleet.run,
      box: fleet.id,
      after: own.after,
      curve: own.curve,
    }).catch((error) => {
      if (fleet.silentMs() === 0 && error.code === undefined) throw error
      return null
    })
  /** @returns {Promise<Shared | null>} null: not yet */
  return async () => {
    const waited = await runningBoxes().catch(() => null)
    if (waited?.length === 0) {
      await fleet.endThread()
      return make()
    }
    // Readers end after all writers.
    if (waited?.every(({ kind }) => kind === 'consumer'))
      await fleet.control.set('ending', '1').catch(() => {})
    else if (waited && !isSaid) {
      say(`waiting for ${namesOf(waited)}`)
      isSaid = true
    }
    return null
  }
}

/**
 * Stores the final report of this box and waits for the result of all; the leading box makes it.
 * @param {Member} fleet
 * @param {object} ending
 * @param {Run} ending.parts of this box's own result
 * @param {readonly Warning[]} ending.warnings
 * @param {(line: string) => void} ending.say
 * @param {Signals} ending.signals
 * @returns {Promise<Shared | null>} null: this box was stopped before there was one
 */
export const resultOfFleet = async (fleet, { parts, signals, say, warnings }) => {
  fleet.end(endOf(parts, warnings))
  const lead = leaderOfEnd(fleet, parts, say)
  const hasLeft = () => signals.stop.aborted && !fleet.isStopped()
  /** @template T @param {Promise<T>} asked */
  const unlessStopped = (asked) => untilStopped(signals.stopNow, asked, null)
  for (;;) {
    await unlessStopped(fleet.beat())
    if (signals.stopNow.aborted) return null
    if (fleet.silentMs() > awayLimitMs) {
      say(`the control server does not answer: only the part of this box is stored, in its own folder`)
      return null
    }
    if (fleet.answer()?.state === 'done') {
      const shared = sharedIn(await unlessStopped(fleet.control.result().catch(() => null)))
      if (shared) return shared
    }
    if (fleet.isDone() && hasLeft()) return null
    if (fleet.isDone() && fleet.isHeadless()) {
      say(`no writer is left to make the result: millrace fleet report ${fleet.run} makes it`)
      return null
    }
    const made = fleet.isDone() && fleet.leads() ? await unlessStopped(lead()) : null
    if (made) return made
    await sleep(everyMs)
  }
}
