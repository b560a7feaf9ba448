// The driver on plain sockets with servers in memory: they take what is sent, and answer when a test says so.

import { systemTimers } from '../../lib/base/timers.js'
import { tickInPortions } from '../../lib/loads/ticks/writer.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { socketDriver } from '../../lib/transport/socket-writer.js'
import { slotCount } from '../../lib/wire/slot.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from './sample-plan.js'
import { socketInMemory } from './scene-of-queues.js'

/** @import { Step } from '../../lib/workloads/bind/writer.js' */

const epochMs = 1_700_000_000_000

/**
 * Two chunks of so many items; slot s is of master s mod `masters`.
 * @param {{ masters: number, items: number, steps?: Step[], settings?: Parameters<typeof samplePlan>[0] }} size
 */
export const sceneOfDriver = async ({ masters, items, steps, settings }) => {
  const cluster = masters > 1
  const halves = { quantity: 2 * items, chunks: 2, periodMs: 1000 }
  const plan = samplePlan({ ...halves, cluster, ...settings }, { cluster, masters })
  const ledger = ledgerOf(plan)
  let nowMs = 0
  const addresses = Array.from({ length: masters }, (_, i) => `127.0.0.1:${7001 + i}`)
  const owners = cluster ? Uint16Array.from({ length: slotCount }, (_, slot) => slot % masters) : null
  const topology = { masters: addresses, owners }
  const servers = /** @type {Map<string, { sent: string, answer: (text: string) => void }>} */ (new Map())
  const driver = await socketDriver({
    plan,
    steps: steps ?? strategyOf(plan).steps(),
    target: {
      topology,
      access: {},
      dial: async (address, { onBytes }) => {
        const server = { sent: '', answer: (/** @type {string} */ text) => onBytes(Buffer.from(text)) }
        servers.set(address, server)
        return socketInMemory((bytes, done) => {
          server.sent += bytes.toString('latin1')
          done?.()
        })
      },
      refresh: async () => topology,
      follows: () => true,
      loadScripts: async () => {},
    },
    ledger,
    ...{
      latency: { record: () => {} },
      machine: { clock: () => nowMs, random: () => 0.5, timers: systemTimers },
    },
    ...{ onEvent: () => {}, onBegun: () => {}, onProgress: () => {} },
  })
  let index = 0
  return {
    driver,
    ledger,
    addresses,
    server: (/** @type {string} */ address) => servers.get(address) ?? { sent: '', answer: () => {} },
    /** The next tick. @param {number} chunk @param {number} dueMs */
    offer(chunk, dueMs) {
      nowMs = dueMs
      const first = 1 + chunk * items
      const account = ledger.open({ agent: 1, first, count: items, measured: true })
      const values = tickValues(epochMs + dueMs, 60)
      const fresh = { firstMs: null, sends: [], progress: null, portions: null, items: null }
      const tick = { index: index++, chunk, dueMs, values, account, ...fresh }
      const begun = tickInPortions({ ticks: [tick], driver, ledger })
      while (!begun.next()) {}
    },
  }
}
