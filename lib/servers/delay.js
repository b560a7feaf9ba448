// A proxy between this program and its servers that adds to the round trip, half of it in each direction, and can lose
// replies. It is measured before it is used.
import { Worker } from 'node:worker_threads'
import { addressOf, endpointOf } from './address.js'
import { dial } from './dial.js'

/**
 * @import { Endpoint } from './address.js'
 * @import { Access } from './dial.js'
 * @import { Target } from './open.js'
 *
 * @typedef {object} Delay round trips in ms, of PINGs before the run: medians, but the shortest of the proxy's own
 * @property {number} asked
 * @property {number} direct to the server without the proxy
 * @property {number} proxy by which the proxy without a delay is longer: a part of what was asked
 * @property {number} added by which the proxy with its delay is longer than the direct way
 * @property {number} busy_ms in which the thread of the proxy was at work; clocks are looked at, so it is most of the delay
 * @property {number} lost replies
 */

const program = new URL('./delay-worker.js', import.meta.url)
const ping = Buffer.from('*1\r\n$4\r\nPING\r\n')
const mostPings = 101
const pingsMs = 1000

/** The round trips of PINGs in ms. @param {Endpoint} endpoint @param {Access} access @param {number} pings */
const roundTrip = async (endpoint, access, pings) => {
  /** @type {number[]} */
  const times = []
  /** @type {(reason?: unknown) => void} */
  let answered = () => {}
  /** @type {(reason: unknown) => void} */
  let failed = () => {}
  const socket = await dial(endpoint, access, {
    onBytes: () => answered(),
    onClose: (error) => failed(error ?? new Error(`${addressOf(endpoint)}: closed the connection`)),
  })
  try {
    for (let i = 0; i < pings; i++) {
      const reply = new Promise((resolve, reject) => {
        answered = resolve
        failed = reject
      })
      const fromMs = performance.now()
      socket.write(ping)
      await reply
      times.push(performance.now() - fromMs)
    }
  } finally {
    failed = () => {}
    socket.destroy()
  }
  times.sort((a, b) => a - b)
  return { least: times[0], median: times[times.length >> 1] }
}

/**
 * @param {object} needs
 * @param {number} needs.delayMs
 * @param {number | null} needs.loseEvery lose the reply to every so many requests, and the connection; null: none
 * @param {Access} needs.access
 */
export const delayProxy = async ({ delayMs, loseEvery, access }) => {
  const worker = new Worker(program, { env: {}, argv: [], execArgv: [], name: 'delay' })
  /** @type {Map<string, Promise<Endpoint>>} */
  const places = new Map()
  /** @param {(message: any) => boolean} is */
  const message = (is) =>
    new Promise((/** @type {(message: any) => void} */ resolve, reject) => {
      const onMessage = (/** @type {any} */ given) => {
        if (!is(given)) return
        worker.off('message', onMessage)
        worker.off('error', reject)
        resolve(given)
      }
      worker.on('message', onMessage)
      worker.once('error', reject)
    })
  await message((given) => given === 'ready')
  worker.unref()

  /** The address of the proxy for an endpoint. @param {Endpoint} endpoint */
  const placeOf = (endpoint) => {
    const { host, port } = endpoint
    const known = places.get(addressOf(endpoint))
    if (known) return known
    const id = places.size
    const place = message((given) => given.id === id).then((given) => ({
      host: '127.0.0.1',
      port: given.port,
    }))
    places.set(addressOf(endpoint), place)
    worker.postMessage({ listen: { host, port }, id })
    return place
  }

  return {
    placeOf,
    /**
     * Measures the proxy without a delay, sets the delay so that both add what was asked, and measures again.
     * @param {Endpoint} endpoint
     */
    async measure(endpoint) {
      const place = await placeOf(endpoint)
      const pings = Math.max(5, Math.min(mostPings, Math.floor(pingsMs / Math.max(1, delayMs))))
      const direct = await roundTrip(endpoint, access, mostPings)
      // The shortest time, so that a busy machine does not count as the proxy.
      const proxy = Math.max(0, (await roundTrip(place, access, mostPings)).least - direct.least)
      worker.postMessage({ holdMs: Math.max(0, (delayMs - proxy) / 2) })
      const added = (await roundTrip(place, access, pings)).median - direct.median
      if (loseEvery !== null) worker.postMessage({ loseEvery })
      return { asked: delayMs, direct: direct.median, proxy, added }
    },
    async figures() {
      const given = message((one) => one.lost !== undefined)
      worker.postMessage('figures')
      const { active } = worker.performance.eventLoopUtilization()
      return { lost: /** @type {number} */ ((await given).lost), busy_ms: active }
    },
    close: () => worker.terminate(),
  }
}

/** @typedef {Awaited<ReturnType<typeof delayProxy>>} DelayProxy */

/**
 * The same target through the proxy; measurements of the servers do not use the proxy.
 * @template {Pick<Target, 'dial' | 'access' | 'confirmed'>} T
 * @param {T} target
 * @param {DelayProxy} proxy
 * @returns {T}
 */
export const throughProxy = (target, proxy) =>
  Object.create(target, {
    dial: {
      value: async (/** @type {string} */ at, /** @type {Parameters<Target['dial']>[1]} */ events) =>
        target.confirmed.isAdmitted(at)
          ? dial(await proxy.placeOf(endpointOf(at)), target.access, events)
          : target.dial(at, events),
    },
  })
