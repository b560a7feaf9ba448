// Plays one fault under load and judges what came of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { orderWatch } from './order.js'
import { cuttingProxy } from './proxy.js'
import { stageOf } from './stage.js'

/**
 * @import { FaultCase, Pace } from './cases.js'
 * @import { Stage, Verified, Writer } from './stage.js'
 * @import { Settings } from '../../settings.js'
 *
 * @typedef {object} Outcome
 * @property {string} fault
 * @property {string} driver
 * @property {number} tookMs the fault itself
 * @property {any} items
 * @property {number | null} lost after they were acknowledged, as scripts/verify.js tells; null: not looked for
 * @property {boolean} lostAtMost the result could not keep all ranges that were not acknowledged
 * @property {number} longestMs that an item waited for its acknowledgement
 * @property {number} rssMb
 * @property {number} waitingBytes in sockets, at most
 * @property {number} repeated
 * @property {any[]} events
 * @property {string[]} complaints empty: as it must be
 */

const leadMs = 1000
const limitMs = 120_000

/** Of a machine that has no CPU for the writer. */
export const busyCodes = ['client-contended', 'client-saturated', 'client-stopped']

/** @param {any} items */
const outcomes = ({ acked, failed, uncertain, dropped, unsettled }) =>
  acked + failed + uncertain + dropped + unsettled

/** @param {Verified} verified @param {any} items @param {{ complete: boolean }} written */
const verifyComplaints = ({ checked }, items, { complete }) => {
  const complaints = /** @type {string[]} */ ([])
  if (complete && checked.acked !== items.acked)
    complaints.push(`scripts/verify.js knows of ${checked.acked} acknowledged items, not ${items.acked}`)
  // Items that were never acknowledged may be among what is missing, but not among these.
  if (checked.corrupt > 0) complaints.push(`${checked.corrupt} corrupt`)
  if (checked.expired > 0) complaints.push(`${checked.expired} expired before they were looked for`)
  return complaints
}

/**
 * What is not as the case demands.
 * @param {FaultCase} fault
 * @param {any} document
 * @param {{ faults: string[], reads: number } | null} order
 * @param {Verified | null} verified
 */
const complaintsOf = ({ demands, emptied }, document, order, verified) => {
  const { items, warnings, commands, written } = document
  const complaints = /** @type {string[]} */ ([])
  const codes = warnings.map((/** @type {any} */ { code }) => code)
  if (items.offered !== outcomes(items)) complaints.push('the accounting does not close')
  if (codes.includes('accounting')) complaints.push('accounting')
  if (codes.includes('data-lost') !== (emptied ?? false))
    complaints.push(`${emptied ? 'no' : 'a'} loss of data is in the result`)
  // An interrupted run on such a machine has no time for what is under way.
  const isBusy = codes.some((/** @type {string} */ code) => busyCodes.includes(code))
  if (items.unsettled > 0 && !isBusy) complaints.push(`${items.unsettled} unsettled`)
  if (items.uncertain > 0) complaints.push(`${items.uncertain} uncertain`)
  if (verified) complaints.push(...verifyComplaints(verified, items, written))
  if (demands === 'accounted') return complaints
  if (items.failed > 0) complaints.push(`${items.failed} failed`)
  if (items.dropped > 0 && !isBusy) complaints.push(`${items.dropped} dropped`)
  if (verified && !verified.lossless)
    complaints.push(`${verified.checked.lost} lost after they were acknowledged`)
  if (Object.keys(commands.errors_by).length > 0)
    complaints.push(`errors: ${JSON.stringify(commands.errors_by)}`)
  if (order && order.faults.length > 0) complaints.push(order.faults[0])
  if (order && order.reads === 0) complaints.push('the order was not watched')
  return complaints
}

/** @param {() => boolean | Promise<boolean>} holds @param {() => string} what */
const untilTrue = async (holds, what) => {
  for (const limit = performance.now() + limitMs; !(await holds()); await sleep(20))
    if (performance.now() > limit) throw new Error(what())
}

/**
 * In a second that began after now items are acknowledged, and no more are under way than an interval has: what
 * waited for the fault has its outcome, and an interrupted run does not wait long for it.
 * @param {Writer} writer
 * @param {number} quantity
 */
export const caughtUp = async (writer, quantity) => {
  const seen = writer.intervals().length
  let open = 0
  const holds = () => {
    if (!writer.isRunning()) throw new Error(`the writer has ended: ${writer.log()}`)
    const lines = writer.intervals()
    open = lines.reduce((sum, { items }) => sum + items.offered - outcomes(items), 0)
    return lines.length > seen + 1 && lines[lines.length - 1].items.acked > 0 && open <= quantity
  }
  await untilTrue(holds, () => `the writer does not catch up: ${open} items are under way`)
}

/**
 * @param {FaultCase} fault
 * @param {Settings['driver']} driver
 * @param {Pace} pace
 * @param {Stage} [shared] empty servers, which stay; without them the play has its own
 * @returns {Promise<Outcome>}
 */
export const play = async (fault, driver, pace, shared) => {
  const quantity = fault.quantity?.(pace, driver) ?? pace.quantity[driver === 'socket' ? driver : 'ioredis']
  const stage = shared ?? (await stageOf({ cluster: !fault.single }))
  const proxy = fault.proxied ? await cuttingProxy(stage.embedded.endpoints[0]) : null
  const behind = pace.maxBehind && fault.demands === 'nothing-lost' ? ` --max-behind ${pace.maxBehind}` : ''
  const kind = fault.verified ? '--once --ttl 600 --allow memory' : '--stamp --ttl 60'
  const own = fault.options ? ` ${fault.options}` : ''
  const writer = stage.startWriter(
    `-q ${quantity} -c 4 --driver ${driver} ${kind}${behind}${own}`,
    proxy ?? undefined,
  )
  /** @type {Awaited<ReturnType<typeof orderWatch>> | null} */
  let order = null
  try {
    order = fault.verified
      ? null
      : await orderWatch({
          endpoints: stage.living(),
          password: stage.embedded.access.password,
          quantity,
          cluster: !fault.single,
          sample: pace.watched,
        })
    const { hasSeen } = order ?? {}
    const isWritten = hasSeen ?? (async () => (await stage.storedItems()) > 0)
    await untilTrue(isWritten, () => `nothing is written: ${writer.log()}`)
    await sleep(leadMs)
    const startMs = performance.now()
    await fault.act(stage, pace, proxy ?? { cut: () => {}, cuts: () => 0 })
    const tookMs = performance.now() - startMs
    await sleep(pace.tailMs)
    await caughtUp(writer, quantity)
    const document = await writer.end()
    const watched = order ? await order.stop() : null
    const verified = fault.verified ? await stage.verified(document) : null
    return {
      fault: fault.name,
      driver,
      tookMs,
      items: document.items,
      lost: verified?.checked.lost ?? null,
      lostAtMost: verified !== null && !document.written.complete,
      longestMs: (document.latency_us.intended.max ?? 0) / 1000,
      rssMb: document.client.rss_mb_max,
      waitingBytes: document.client.waiting_bytes_max,
      repeated: document.commands.repeated,
      events: document.events,
      complaints: complaintsOf(fault, document, watched, verified),
    }
  } finally {
    writer.kill()
    // A watch that is not stopped keeps the process running.
    await order?.stop()
    await proxy?.close()
    if (!shared) await stage.close()
  }
}
