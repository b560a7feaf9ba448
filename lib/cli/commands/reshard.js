// `millrace reshard`: changes a cluster while it serves, and measures how long that takes.
import { setTimeout as sleep } from 'node:timers/promises'
import { optionsOf } from '../../../settings.js'
import { ExitCode, OptionError, TargetError } from '../../base/errors.js'
import { unlessInterrupted } from '../../base/interrupts.js'
import { count, period, several } from '../../base/units.js'
import { refuseWords } from '../../options/command-line.js'
import { addressOf } from '../../servers/address.js'
import { findEmbedded } from '../../servers/embedded.js'
import { addServers } from '../../servers/embedded-changes.js'
import { isDone, RefusedChange, seenWords, slotsChanged } from '../../servers/managed.js'
import { openTarget } from '../../servers/open.js'
import { resharding, slotsIn } from '../../servers/reshard.js'
import { withPassword } from '../password.js'
import { screenOf } from '../screen.js'
import { interruptsOfRun } from '../signals.js'

/**
 * @import { ReshardSettings } from '../../../settings.js'
 * @import { Change } from '../../servers/managed.js'
 * @import { Target } from '../../servers/open.js'
 * @import { Moved } from '../../servers/reshard.js'
 * @import { Command } from '../commands.js'
 */

const changes = ['move', 'add-shard', 'remove-shard', 'failover']
const patienceMs = 1000
const watchMs = 1000
// After this many identical answers in a row the change is over.
const quietChecks = 4

/** An address, or a shard's number. @param {string} text */
const placeIn = (text) => (/^\d+$/.test(text) ? Number(text) : text)

/** @param {ReshardSettings} settings @param {Target} target @param {ReturnType<typeof resharding>} cluster */
const newServers = async ({ servers, replicas, serverBin }, target, cluster) => {
  if (servers !== undefined) {
    const [master, ...others] = servers.split(',')
    return { master, replicas: others }
  }
  const embedded = target.origin === 'address' ? null : findEmbedded({ cluster: true })
  if (!embedded) {
    await cluster.mayChange()
    throw new OptionError('add-shard needs the empty servers that become it: --servers')
  }
  const [master, ...others] = await addServers(embedded, { count: 1 + replicas, serverBin })
  return { master: addressOf(master), replicas: others.map(addressOf) }
}

/** @param {ReshardSettings} settings */
const shardIn = ({ shard }) => {
  if (shard === undefined) throw new OptionError('--shard must say which: its number, or its master')
  return placeIn(shard)
}

/**
 * @param {Change} change
 * @param {ReshardSettings} settings
 * @param {Target} target
 * @param {ReturnType<typeof resharding>} cluster
 * @returns {Promise<string>} what was done
 */
const made = async (change, settings, target, cluster) => {
  if (change === 'failover') {
    const { from, to, tookMs } = await cluster.failover(shardIn(settings))
    return `${to} took over from ${from} in ${period(tookMs)}`
  }
  const changeWords = (/** @type {Moved} */ { slots, keys, tookMs }) =>
    `${several(slots, 'slot')} with ${several(keys, 'key')} moved in ${period(tookMs)}`
  if (change === 'add-shard')
    return changeWords(await cluster.addShard(await newServers(settings, target, cluster)))
  if (change === 'remove-shard') {
    const { gone, ...moved } = await cluster.removeShard(shardIn(settings))
    // Servers started here end; others stay, empty and outside the cluster.
    if (target.origin !== 'address')
      for (const address of gone)
        target
          .control(address)
          .call('SHUTDOWN', 'NOSAVE')
          .catch(() => {})
    return `${changeWords(moved)}; not part of the cluster any more: ${gone.join(', ')}`
  }
  const slots = slotsIn(settings.slots ?? '')
  if (!slots) throw new OptionError('--slots must be slots such as 0-1499,3000')
  if (settings.to === undefined) throw new OptionError('--to must say where: a shard, or its master')
  return changeWords(await cluster.move(slots, placeIn(settings.to)))
}

/** Where a provider's users make the change. @param {Change} change */
const providerWords = (change) =>
  `make the change with the tools of your provider (ElastiCache: ${
    change === 'failover' ? 'test-failover' : 'modify-replication-group-shard-configuration'
  } of aws elasticache)`

/**
 * Where only the provider may change the cluster: waits, and reports what is seen of the change.
 * @param {Change} change
 * @param {ReshardSettings} settings
 * @param {Target} target
 * @param {{ say: (line: string) => void, stop: AbortSignal }} by
 */
const watched = async (change, settings, target, { say, stop }) => {
  const before = target.topology
  say(`${providerWords(change)}; it is waited for, up to ${period(settings.waitMs)}`)
  const startMs = performance.now()
  const tookMs = () => performance.now() - startMs
  const pause = (/** @type {number} */ ms) => sleep(ms, undefined, { signal: stop }).catch(() => {})
  let last = before
  for (let quiet = 0; quiet < quietChecks; ) {
    const isSeen = isDone(change, before, last)
    if (!isSeen && tookMs() > settings.waitMs)
      throw new TargetError(
        `${target.address}: the change has not come after ${period(settings.waitMs)} (--wait); ${seenWords('move', before, last)}`,
      )
    await pause(isSeen ? watchMs : Math.min(watchMs, Math.max(0, settings.waitMs - tookMs()) + 1))
    if (stop.aborted) return ExitCode.interrupted
    const next = await watchedStep(target, last, say)
    quiet = isSeen && slotsChanged(last, next) === 0 ? quiet + 1 : 0
    last = next
  }
  process.stdout.write(`${seenWords(change, before, last)} after ${period(tookMs())}\n`)
  return ExitCode.done
}

/** @param {Target} target @param {Target['topology']} last @param {(line: string) => void} say */
const watchedStep = async (target, last, say) => {
  const next = await target.refresh().catch(() => last)
  const moved = slotsChanged(last, next)
  if (moved > 0) say(`${several(moved, 'slot')} moved; ${several(next.masters.length, 'master')}`)
  return next
}

/** @param {ReshardSettings} given @param {string | undefined} word what to change */
const reshard = async (given, word) => {
  const { stop } = interruptsOfRun()
  /** @type {ReshardSettings} */
  const settings = { ...given, cluster: true }
  if (word === undefined || !changes.includes(word))
    throw new OptionError(`reshard takes one of ${changes.join(', ')}${word ? `, not '${word}'` : ''}`)
  const change = /** @type {Change} */ (word)
  const { say } = screenOf({ ...settings, quiet: false, json: false, isRun: false })
  const target = await unlessInterrupted(stop, openTarget(settings, { say, mayStart: false }))
  let shownMs = performance.now()
  const cluster = resharding({
    cluster: {
      control: target.control,
      access: target.access,
      addresses: () => target.nodes().map(({ address }) => address),
      name: target.confirmed.name,
    },
    clock: () => performance.now(),
    signal: stop,
    onProgress: ({ kind, done, total, text }) => {
      if (performance.now() - shownMs < patienceMs) return
      shownMs = performance.now()
      say(kind === 'slots' ? `${count(done)} of ${several(total, 'slot')}: ${text}` : `waiting: ${text}`)
    },
  })
  try {
    process.stdout.write(`${await made(change, settings, target, cluster)}\n`)
    return ExitCode.done
  } catch (error) {
    if (stop.aborted) return ExitCode.interrupted
    if (!(error instanceof RefusedChange)) throw error
    say(error.message)
    return await watched(change, settings, target, { say, stop })
  } finally {
    await target.close()
  }
}

const options = optionsOf('reshard')

/** @type {Command} */
export const command = {
  about: {
    words: 'move|add-shard|remove-shard|failover',
    does: 'Changes a cluster while it serves, and reports how long that took.',
    examples: [
      ['move 1,500 slots to the third shard', 'move --slots 0-1499 --to 3 --host cache.example.net --tls'],
      ['let the replica of the second shard take over', 'failover --shard 2'],
    ],
  },
  options,
  takesWords: true,
  words: () => changes,
  work: async ({ settings, typed, redact }) => {
    refuseWords(typed, 1)
    return reshard(await withPassword(settings, redact), typed.words[0])
  },
}
