// A fleet as a user starts it: a target, a control, and boxes of one line.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { controlOf } from '../../lib/fleet/control.js'
import { statusOf } from '../../lib/fleet/status.js'
import { sharedIn } from '../../lib/run/fleet-result.js'
import { runCommand, startCommand } from './command-here.js'
import { at, outcomesOf, ownFolder, startProgram, until } from './programs.js'
import { startServer } from './servers.js'
/** @import { TestServer } from './servers.js' */
/** @import { TestContext } from 'node:test' */

/** @param {TestServer} control */
export const urlOf = ({ host, port, password }) => `redis://:${password}@${host}:${port}`

/** A target, a control, and boxes that are started by one line. @param {TestContext} t */
export const fleetOf = async (t) => {
  const [target, control] = await Promise.all([startServer(t), startServer(t)])
  const env = { ...at(target), MILLRACE_CONTROL: urlOf(control) }
  const out = ownFolder(t, 'fleet')
  const client = new Redis(urlOf(control), { lazyConnect: true })
  client.on('error', () => {})
  t.after(() => client.disconnect())
  return {
    ...{ target, control, env, out },
    /** @param {string} line @param {NodeJS.ProcessEnv} [more] @param {string} [folder] */
    box: (line, more = {}, folder = out) =>
      startProgram(t, 'producer.js', `${line} --idle-cost never --quiet`, {
        env: { ...env, ...more },
        out: folder,
      }),
    /** A box that reads. @param {string} line */
    reader: (line) => startProgram(t, 'consumer.js', `${line} --quiet`, { env, out }),
    /** A box in the process of the test, with a folder of its own: for what needs no process that can be killed. @param {string} line @param {NodeJS.ProcessEnv} [more] */
    boxHere: (line, more = {}) =>
      startCommand(t, `write ${line} --idle-cost never --quiet`, { env: { ...env, ...more } }),
    readerHere: (/** @type {string} */ line) => startCommand(t, `read ${line} --quiet`, { env }),
    fleet: (/** @type {string} */ line) => runCommand(t, `fleet ${line}`, { env, out: false }),
    /** What `fleet status --json` prints, without a program for each look. @param {string} run @returns {Promise<any>} */
    status: async (run) => {
      // until() asks 50 times a second, and each look reads what all boxes have sent.
      await sleep(200)
      return (await statusOf(controlOf(client, run), run).catch(() => null)) ?? { boxes: [] }
    },
    /** The result that the boxes left on the control; where they left none, `fleet report` makes it. @param {string} run @returns {Promise<any>} */
    result: async (run) => {
      const shared = sharedIn(await controlOf(client, run).result())
      if (shared) return shared.document
      const { stdout, stderr } = await runCommand(t, `fleet report ${run} --json`, { env })
      return stdout ? JSON.parse(stdout) : assert.fail(stderr)
    },
  }
}

export const assertIdentity = (/** @type {any} */ items) =>
  assert.equal(items.offered, outcomesOf(items) + items.absent, JSON.stringify(items))

/**
 * Boxes that were stopped together have the same ticks, but for one that heard of the stop when its moment was over.
 * @param {readonly { stderr: string }[]} ended
 * @param {any} items
 */
export const assertStoppedAsOne = (ended, items) => {
  // The one that stops them goes alone where the control's answer comes too late.
  const deaf = ended.filter(({ stderr }) => !stderr.includes('stopped by '))
  assert.ok(deaf.length <= 1 && ended.length > deaf.length, deaf[0]?.stderr)
  const areInTime = ended.every(({ stderr }) => /stopped by .*: all boxes stop in \d\.\d s/.test(stderr))
  // One that has no core in the moment of the end lacks a tick or two.
  assert.ok(items.absent <= items.offered / 100 || !areInTime, `${items.absent} of ${items.offered} absent`)
}

/** How often a server has run the command of an item: once for each that is acknowledged, and for what was retried. @param {number} calls @param {...any} documents */
export const assertCalls = (calls, ...documents) => {
  const sum = (/** @type {(document: any) => number} */ of) =>
    documents.reduce((all, one) => all + of(one), 0)
  const [acked, repeated] = [sum(({ items }) => items.acked), sum(({ commands }) => commands.repeated)]
  assert.ok(calls >= acked && calls <= acked + repeated, `${calls} of ${acked}, ${repeated} retried`)
}

/**
 * How many items writers that were killed may have stored: what was due by then, of so many each tick.
 * @param {any} document
 * @param {readonly number[]} killedMs epoch, of each
 * @param {{ items: number, everyMs: number }} ticks of one of them
 */
export const storedByKilled = (document, killedMs, { items, everyMs }) =>
  killedMs.reduce((sum, atMs) => {
    const ticks = Math.floor((atMs - Date.parse(document.started)) / everyMs) + 1
    return sum + (ticks + 1) * items // the clocks are known to a tick
  }, 0)

/** How far apart the ends of the boxes are that were there to the end. @param {any} document */
export const endsApartMs = (document) => {
  const there = document.fleet.boxes.filter((/** @type {any} */ { state }) => state !== 'lost')
  const ends = there.map((/** @type {any} */ { to_s: toS }) => toS)
  return (Math.max(...ends) - Math.min(...ends)) * 1000
}

/** @param {any} status @param {string} state */
export const inState = ({ boxes }, state) =>
  boxes.filter((/** @type {any} */ one) => one.state === state).length

/**
 * Boxes that are all writing, and what the fleet says of them.
 * @template {{ assertRuns: () => void, pid?: number }} Box
 * @param {{ status: (run: string) => Promise<any> }} fleet
 * @param {(line: string) => Box} box
 * @param {string} run
 * @param {number} writers
 * @param {string} line
 */
export const writing = async ({ status: statusOfRun }, box, run, writers, line) => {
  const boxes = Array.from({ length: writers }, () => box(`${line} -t ${writers} --run ${run}`))
  const status = () => statusOfRun(run)
  const found = await until(`${writers} boxes are writing`, async () => {
    for (const box of boxes) box.assertRuns()
    const now = await status()
    return inState(now, 'writing') === writers ? now : null
  })
  const one = (/** @type {boolean} */ isLeader) => {
    const pids = found.boxes.filter((/** @type {any} */ b) => (b.id === found.leader) === isLeader)
    return boxes.find(({ pid }) => pid === pids[0].pid) ?? assert.fail('no such box')
  }
  return {
    ...{ boxes, status },
    get leader() {
      return one(true)
    },
    get follower() {
      return one(false)
    },
  }
}
