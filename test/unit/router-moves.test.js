// Requests whose servers leave the map, die or become replicas, with all time simulated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counting } from '../../lib/transport/lane.js'
import { routerOf } from '../../lib/transport/router.js'
import { seeded } from '../helpers/random.js'
import { virtualClock } from '../simulation/clock.js'

const A = '10.0.0.1:1',
  B = '10.0.0.2:1',
  C = '10.0.0.3:1'

/** @param {any} more */
const stage = (more = {}) => {
  const clock = virtualClock({ random: seeded(1) })
  const seen = {
    dials: /** @type {any[]} */ ([]),
    refreshes: 0,
    writes: /** @type {any[]} */ ([]),
    lost: /** @type {any[]} */ ([]),
    acked: 0,
    dead: new Set(),
  }
  const state = { topology: more.topology, sockets: /** @type {any[]} */ ([]), dialMs: () => 1 }
  const dial = async (/** @type {string} */ address, /** @type {any} */ events) => {
    seen.dials.push({ address, atMs: clock.now(), readOnly: events.readOnly })
    await clock.wait(state.dialMs())
    if (seen.dead.has(address)) throw new Error(`${address} refused`)
    const socket = {
      address,
      readOnly: events.readOnly,
      destroyed: false,
      writableLength: 0,
      events,
      write(/** @type {Buffer} */ bytes) {
        seen.writes.push({ address, text: String(bytes) })
        more.onWrite?.(socket, String(bytes))
      },
      destroy() {
        if (socket.destroyed) return
        socket.destroyed = true
        clock.after(0.01, () => events.onClose())
      },
    }
    state.sockets.push(socket)
    return socket
  }
  /** @type {any} */
  const kind = {
    slotOf: (/** @type {any} */ r) => r.slot,
    most: 64,
    reads: () => more.readFrom !== undefined,
    put: (/** @type {any} */ _, /** @type {Buffer} */ out, /** @type {number} */ at) =>
      at + out.write('PING\r\n', at),
    send(/** @type {any} */ r, /** @type {any} */ lane, /** @type {number} */ nowMs) {
      lane.push(r, 1, nowMs, r.goTo === null ? 0 : 1)
      router.outbox.put(lane, r)
    },
    lose: (/** @type {any} */ _, /** @type {string} */ outcome, /** @type {string} */ cause) =>
      seen.lost.push({ outcome, cause, atMs: clock.now() }),
    answered: () => void seen.acked++,
    refused: (/** @type {any[]} */ ...[r, line, , , lane]) => router.refused(r, line, lane),
  }
  const router = routerOf({
    kind,
    clients: more.clients ?? 1,
    maxBehindMs: 3000,
    decoder: counting(),
    target: {
      topology: state.topology,
      dial,
      follows: () => true,
      refresh: async () => {
        seen.refreshes++
        return state.topology
      },
      nodes: more.nodes,
    },
    ...(more.readFrom && { readFrom: more.readFrom }),
    ...(more.slots && { slots: more.slots }),
    ledger: { commands: { refused: 0 }, retried: () => {} },
    onRoom: () => {},
    onEvent: () => {},
    machine: { clock: clock.now, random: () => 0.5, timers: clock.timers },
  })
  const request = (slot = 0) => ({
    client: 0,
    slot,
    dueMs: clock.now(),
    repeatable: true,
    attempts: 0,
    goTo: null,
    notBeforeMs: 0,
  })
  return {
    clock,
    seen,
    state,
    router,
    request,
    begin(/** @type {any} */ r) {
      router.begin(r, clock.now())
      router.outbox.end()
    },
  }
}
const owners = (/** @type {number} */ of) => new Uint16Array(16384).fill(of)

test('a request that ASK sends to a server that then fails over goes to the owner by the new map', async () => {
  const s = stage({
    topology: { masters: [A, B], owners: owners(0) },
    onWrite(/** @type {any} */ socket, /** @type {string} */ text) {
      if (!text.startsWith('PING')) return
      const answer =
        socket.address === A && s.state.topology.masters.includes(B) ? `-ASK 0 ${B}\r\n` : '+OK\r\n'
      s.clock.after(1, () => socket.events.onBytes(Buffer.from(answer)))
    },
  })
  const { clock, seen, state } = s
  await clock.runUntil(
    (async () => {
      await s.router.open()
      seen.dead.add(B)
      for (const one of state.sockets) if (one.address === B) one.destroy()
      await clock.wait(100)
      s.begin(s.request())
      await clock.wait(200)
      // The cluster takes B out; slot 0 stays at A.
      state.topology = { masters: [A], owners: owners(0) }
      for (let i = 0; i < 6; i++) {
        await clock.wait(1000)
        s.router.watch()
      }
    })(),
    60_000,
  )
  assert.ok(seen.dials.filter(({ address }) => address === B).length < 20)
  assert.equal(seen.acked, 1)
})

test('a lane to a server that left the map is not dialled without a pause', async () => {
  const s = stage({
    topology: { masters: [A, B, C], owners: owners(0) },
    slots: [0],
    onWrite(/** @type {any} */ socket, /** @type {string} */ text) {
      if (text.startsWith('PING'))
        s.clock.after(1, () => socket.events.onBytes(Buffer.from(`-ASK 0 ${B}\r\n`)))
    },
  })
  const { clock, seen } = s
  await clock.runUntil(
    (async () => {
      await s.router.open()
      seen.dead.add(B)
      s.begin(s.request())
      for (let i = 0; i < 6; i++) {
        await clock.wait(1000)
        s.router.watch()
      }
    })(),
    60_000,
  )
  const n = seen.dials.filter(({ address }) => address === B).length
  assert.ok(n < 20, `${n} dials`)
})

test('a map that is too old is asked for again', async () => {
  const s = stage({ topology: { masters: [A], owners: owners(0) } })
  await s.clock.runUntil(
    (async () => {
      await s.router.open()
      for (let i = 0; i < 60; i++) {
        await s.clock.wait(1000)
        s.router.watch()
      }
    })(),
    100_000,
  )
  assert.ok(s.seen.refreshes > 0)
})

test('a connection that was being opened while its server became a replica says READONLY', async () => {
  const nodeOf = (
    /** @type {string} */ address,
    /** @type {string} */ role,
    /** @type {any} */ masterAddress = null,
  ) => ({ address, role, masterAddress })
  let nodes = [nodeOf(A, 'master'), nodeOf(B, 'replica', A)]
  const s = stage({ topology: { masters: [A], owners: owners(0) }, readFrom: 'replica', nodes: () => nodes })
  const { clock, state } = s
  await clock.runUntil(
    (async () => {
      await s.router.open()
      // A restarts, and B becomes its master while the connection to A is being opened.
      const old = state.sockets.find(({ address }) => address === A)
      state.dialMs = () => 200
      old.destroy()
      await clock.wait(150) // the retry begins (25 to 50 ms), its dial takes 200
      state.topology = { masters: [B], owners: owners(0) }
      nodes = [nodeOf(B, 'master'), nodeOf(A, 'replica', B)]
      await clock.wait(600)
      for (let i = 0; i < 20; i++) {
        await clock.wait(1000)
        s.router.watch()
      }
    })(),
    100_000,
  )
  const open = state.sockets
    .filter((one) => !one.destroyed)
    .map(({ address, readOnly }) => ({ address, readOnly }))
  assert.equal(
    open.filter(({ address }) => address === A).every(({ readOnly }) => readOnly),
    true,
  )
})
