// What a snapshot costs after the load: each master in turn saves its data, is emptied and loads the data again, while a
// bystander sends it a PING every 20 ms.

import { TargetError } from '../base/errors.js'
import { sleep } from '../base/settlement.js'
import { count } from '../base/units.js'
import { dataBytesIn } from '../probes/baseline.js'
import { bystanderThread } from '../probes/bystander-thread.js'
import { longCommand } from '../servers/long-command.js'
import { parseInfo } from '../wire/info.js'

/**
 * @import { Target } from '../servers/open.js'
 *
 * @typedef {object} Step of all masters
 * @property {number} total_ms one after the other
 * @property {number} longest_ms of one of them
 * @property {number} bystander_max_us
 *
 * @typedef {object} Snapshot
 * @property {number} masters
 * @property {number} keys
 * @property {number | null} data_bytes
 * @property {Step & { fork_max_us: number }} save by BGSAVE
 * @property {Step} flush by FLUSHALL SYNC
 * @property {Step} load
 */

const pollMs = 10
// PINGs that were due in a step have their answers by then.
const settleMs = 100

/**
 * @param {object} needs
 * @param {Target} needs.target
 * @param {() => number} needs.clock ms
 * @param {(line: string) => void} needs.say
 * @returns {Promise<Snapshot>}
 */
export const snapshotOf = async ({ target, clock, say }) => {
  const { masters } = target.topology
  /** @type {{ dueMs: number, us: number }[]} */
  const waits = []
  const probe = bystanderThread({
    masters: () => target.nodes().filter(({ role }) => role === 'master'),
    access: target.access,
    record: (agoMs, us) => {
      waits.push({ dueMs: clock() - agoMs, us })
    },
    onFailed: ({ message }) => say(`the bystander of the snapshot failed: ${message}`),
  })
  const infoOf = async (/** @type {string} */ address) => parseInfo(await target.info(address)).fields
  /** Keys of all databases; some may expire meanwhile. */
  const keysOf = async () => {
    const infos = await Promise.all(masters.map(async (address) => parseInfo(await target.info(address))))
    const all = infos.flatMap(({ databases }) => Object.values(databases))
    const sum = (/** @type {'keys' | 'expires'} */ name) =>
      all.reduce((total, db) => total + Number(db[name]), 0)
    return { keys: sum('keys'), lasting: sum('keys') - sum('expires') }
  }
  /** @param {(address: string) => Promise<unknown>} play */
  const step = async (play) => {
    const beganMs = clock()
    const tookMs = []
    for (const address of masters) {
      const fromMs = clock()
      await play(address)
      tookMs.push(clock() - fromMs)
      await sleep(settleMs)
    }
    return { beganMs, endedMs: clock(), tookMs }
  }
  /** PINGs belong to the step in which they were due. @param {Awaited<ReturnType<typeof step>>} step @returns {Step} */
  const figuresOf = ({ beganMs, endedMs, tookMs }) => ({
    total_ms: tookMs.reduce((sum, ms) => sum + ms, 0),
    longest_ms: Math.max(...tookMs),
    bystander_max_us: Math.max(
      0,
      ...waits.filter(({ dueMs }) => dueMs >= beganMs && dueMs < endedMs).map(({ us }) => us),
    ),
  })
  let forkUs = 0
  const save = async (/** @type {string} */ address) => {
    await target.control(address).call('BGSAVE')
    for (;;) {
      await sleep(pollMs)
      const fields = await infoOf(address)
      if (fields.rdb_bgsave_in_progress !== '0') continue
      forkUs = Math.max(forkUs, Number(fields.latest_fork_usec))
      if (fields.rdb_last_bgsave_status === 'ok') return
      throw new TargetError(`--with snapshot: ${address} could not save its data; its log says why`)
    }
  }

  const play = async () => {
    const { keys, lasting } = await keysOf()
    const dataBytes = await dataBytesIn(target)
    const saved = await step(save)
    const emptied = await step((address) => longCommand(target, address, ['FLUSHALL', 'SYNC']))
    const loaded = await step((address) => longCommand(target, address, ['DEBUG', 'RELOAD', 'NOSAVE']))
    const { keys: again } = await keysOf()
    if (again < lasting)
      throw new TargetError(
        `--with snapshot: ${count(keys)} keys were saved and ${count(again)} are loaded again`,
      )
    return { keys, dataBytes, saved, emptied, loaded }
  }

  await probe.start()
  // The thread sends its last latencies when it stops.
  const { keys, dataBytes, saved, emptied, loaded } = await play().finally(probe.stop)
  return {
    masters: masters.length,
    keys,
    data_bytes: dataBytes,
    save: { ...figuresOf(saved), fork_max_us: forkUs },
    flush: figuresOf(emptied),
    load: figuresOf(loaded),
  }
}
