// A fleet as a user starts it: a target, a control, and boxes of one line.
import assert from 'node:assert/strict'
import { Redis } from 'ioredis'
import { controlOf } from '../../lib/fleet/control.js'
import { statusOf } from '../../lib/fleet/status.js'
import { at, outcomesOf, ownFolder, startProgram, until } from './programs.js'
import { startServer } from './servers.js'

/** @import { TestServer } from './servers.js' */

/** @param {TestServer} control */
export const urlOf = ({ host, port, password }) => `redis://:${password}@${host}:${port}`

/** A target, a control, and boxes that are started by one line. @param {import('node:test').TestContext} t */
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
    /** @param {string} line */
    fleet: (line) => startProgram(t, 'lib/cli/millrace.js', `fleet ${line}`, { env, out: false }).ended,
    /** What `fleet status --json` prints, without a program for each look. @param {string} run @returns {Promise<any>} */
    status: async (run) => (await statusOf(controlOf(client, run), run).catch(() => null)) ?? { boxes: [] },
    /** The result as another machine gets it. @param {string} run @returns {Promise<any>} */
    result: async (run) => {
      const line = `fleet report ${run} --json`
      const { stdout, stderr } = await startProgram(t, 'lib/cli/millrace.js', line, { env }).ended
      return stdout ? JSON.parse(stdout) : assert.fail(stderr)
    },
  }
}

/** @param {any} items */
export const assertIdentity = (items) =>
  assert.equal(items.offered, outcomesOf(items) + items.absent, JSON.stringify(items))

/**
 * Boxes that were stopped together have the same ticks, but for one that heard of the stop when its moment was over.
 * @param {readonly { stderr: string }[]} ended
 * @param {any} items
 */
export const assertStoppedAsOne = (ended, items) => {
  for (const { stderr } of ended) assert.match(stderr, /stopped by /)
  const areInTime = ended.every(({ stderr }) => /stopped by .*: all boxes stop in \d\.\d s/.test(stderr))
  assert.ok(items.absent === 0 || !areInTime, `${items.absent} of ${items.offered} absent`)
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
  const ends = document.fleet.boxes.flatMap((/** @type {any} */ { state, to_s: toS }) =>
    state === 'lost' ? [] : [toS],
  )
  return (Math.max(...ends) - Math.min(...ends)) * 1000
}

/** @param {any} status @param {string} state */
export const inState = ({ boxes }, state) =>
  boxes.filter((/** @type {any} */ one) => one.state === state).length

/**
 * Boxes that are all writing, and what the fleet says of them.
 * @param {Awaited<ReturnType<typeof fleetOf>>} fleet
 * @param {string} run
 * @param {number} writers
 * @param {string} line
 */
export const writing = async ({ box, status: statusOfRun }, run, writers, line) => {
  const boxes = Array.from({ length: writers }, () => box(`${line} -t ${writers} --run ${run}`))
  const status = () => statusOfRun(run)
  const found = await until(`${writers} boxes are writing`, async () => {
    for (const box of boxes) box.assertRuns()
    const now = await status()
    return inState(now, 'writing') === writers ? now : null
  })
  /** @param {boolean} isLeader */
  const one = (isLeader) => {
    const pids = found.boxes.filter((/** @type {any} */ b) => (b.id === found.leader) === isLeader)
    return boxes.find(({ pid }) => pid === pids[0].pid) ?? assert.fail('no such box')
  }
  return { boxes, status, leader: one(true), follower: one(false) }
}
