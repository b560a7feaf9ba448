// The read driver over a client library, as a Node application would use it. The library follows redirects.
import { errorOf } from '../base/errors.js'
import { slotOf } from '../wire/slot.js'
import { connectLibrary, libraryNamed } from './library.js'
import { askerOf, libraryAskingOf, valuesReader } from './library-asking.js'
import { longestReplyOf } from './longest-reply.js'
import { ReadError } from './read-driver.js'
import { readRetriesOf } from './read-retries.js'
import { readTopologyOf } from './read-topology.js'

/** @import { ReadDriver, ReadDriverOptions } from './read-driver.js' */

/** @param {ReadDriverOptions} options @returns {Promise<ReadDriver>} */
export const libraryReadDriver = async (options) => {
  const { plan, target, machine } = options
  const { clock } = machine
  const topology = readTopologyOf(options, { connections: () => library.connections() })
  const { topologyEvents, servers, serverAt, masterOf, refresh } = topology
  const [server] = servers()
  let closed = false
  let started = false
  let commands = 0
  // Redirects are the library's own: one that it gave up is tried again later.
  const retries = readRetriesOf({ machine, follows: () => false, isClosed: () => closed })

  // The library has its own map; this one names the nodes in the result.
  const changed = () => {
    if (started && !closed) refresh()
  }
  const events = {
    up: (/** @type {string} */ address) => {
      topologyEvents.up(address)
      changed()
    },
    down: (/** @type {string} */ address, /** @type {string} */ reason) => {
      if (!started || closed) return
      topologyEvents.down(address, reason)
      changed()
    },
    ready: () => {},
    turnedAway: () => {},
    stray: refresh,
  }
  const openLibrary = await libraryNamed(plan.driver)
  const open = (
    /** @type {string} */ address,
    /** @type {'replica' | 'master' | 'any'} */ reads,
    on = events,
  ) =>
    openLibrary({
      cluster: plan.cluster,
      target,
      address,
      reads,
      options: plan.library?.options ?? {},
      bytes: true,
      mostBytes: longestReplyOf(plan),
      clock,
      events: on,
    })
  // Its round trips are not known to us, and a rule refuses it.
  const library = open(server, plan.reads === 'nearest' ? 'any' : plan.reads)
  const asking = libraryAskingOf({ library, plan, clock })
  /** @type {typeof library | null} of masters */
  let mains = null

  const onSend = () => {
    commands++
  }
  const reading = { plan, target, asking, server, retries, onSend }
  const askUntil = askerOf(reading, serverAt)

  const masterLibrary = async () => {
    if (mains) return mains
    const [first] = target.topology.masters
    mains = open(first, 'master', { ...events, up: () => {}, down: () => {} })
    await connectLibrary(mains, first, target.access)
    return mains
  }

  await connectLibrary(library, server, target.access)
  started = true

  return {
    ask: (args, key, sink) => askUntil(library, args, key, sink),
    askMaster: async (args, key, sink) => {
      const main = await masterLibrary().catch((error) => {
        mains = null
        throw new ReadError('CONNECT', errorOf(error).message)
      })
      await askUntil(main, args, key, sink)
    },
    values: valuesReader(reading, library, masterOf),
    serverOf: (key, consumer) => serverAt(plan.cluster ? slotOf(key) : 0, consumer),
    servers,
    bare: topology.bare,
    // The library does not say which of its nodes a command went to.
    figures: () => ({ all: { commands, bytes_in: null } }),
    watch: () => {
      topology.listen()
      asking.watch()
      topology.watch()
    },
    hasOverdue: asking.hasOverdue,
    close: () => {
      closed = true
      topology.close()
      library.close()
      mains?.close()
    },
  }
}
