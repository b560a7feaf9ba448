// The readings of the nodes when another box begins to lead: of every moment once, whatever the control has folded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { leaderOf } from '../../lib/fleet/lead.js'
import { ledSource } from '../../lib/fleet/leader-sampling.js'
import { nodes } from '../../lib/measures/nodes.js'
import { nodeSampler } from '../../lib/probes/node-sampler.js'
import { boxOfIntervals } from '../helpers/sample-interval.js'

/** A control in memory, a server that has run 100 commands for each 100 ms, and two boxes of which one leads. */
const rig = () => {
  const time = { ms: 0 }
  const state = { leader: 'a', isAway: false }
  let stream = /** @type {[string, string][]} */ ([])
  let checkpoint = /** @type {string | null} */ (null)
  let id = 0
  const control = {
    read: async (/** @type {string} */ last, /** @type {number} */ count) => {
      if (state.isAway) throw new Error('away')
      return stream.filter(([one]) => Number.parseInt(one, 10) > Number.parseInt(last, 10)).slice(0, count)
    },
    checkpoint: async () => {
      if (state.isAway) throw new Error('away')
      return checkpoint
    },
    commit: async (/** @type {any} */ { last, checkpoint: text }) => {
      checkpoint = text
      stream = stream.filter(([one]) => Number.parseInt(one, 10) > Number.parseInt(last, 10))
      return true
    },
  }
  const boxOf = (/** @type {string} */ name) => {
    const sampler = nodeSampler({
      nodes: () => [{ address: 'm:1', shard: 1, role: 'master' }],
      clock: () => time.ms,
      info: async () =>
        `role:master\r\nuptime_in_seconds:${Math.floor(time.ms / 1000)}\r\nrun_id:one\r\ntotal_commands_processed:${time.ms}\r\ncmdstat_setex:calls=${time.ms},usec=1,usec_per_call=1\r\n`,
    })
    const opened = /** @type {any} */ (nodes.open(/** @type {any} */ ({ sampler })))
    const source = ledSource(opened, { leads: () => state.leader === name, control })
    const intervals = boxOfIntervals(name, name === 'a' ? 1 : 2, 1)
    return {
      source,
      /** One second, which the control has been sent. */
      async second(/** @type {number} */ s) {
        time.ms = s * 1000
        source.second()
        const taken = await source.sample?.()
        const line = { ...intervals.next(s), ...taken, nodes: taken?.nodes ?? [] }
        const text = JSON.stringify({ ...line, sampler: source.state?.() })
        stream.push([`${++id}-0`, text])
        await turnOfLoop()
      },
    }
  }
  const fold = () => leaderOf({ control, box: 'a', data: () => 'one' }).foldNew()
  const calls = async () => {
    const { boxes } =
      (await leaderOf({ control, box: 'b', data: () => 'one' }).foldNew({ isLast: true })) ?? {}
    return Object.values(boxes ?? {})
      .flatMap(({ measured }) => Object.values(measured.whole.nodes ?? {}))
      .reduce((sum, row) => sum + (row.commands?.setex?.calls ?? 0), 0)
  }
  return { state, time, fold, calls, a: boxOf('a'), b: boxOf('b') }
}

/** @param {ReturnType<typeof rig>['a'][]} boxes @param {number} from @param {number} to */
const seconds = async (boxes, from, to) => {
  for (let s = from; s <= to; s++) for (const box of boxes) await box.second(s)
}

for (const [what, foldedTo] of Object.entries({
  ...{ nothing: 0, 'its first second': 1, 'two of its seconds': 2, 'all of its seconds': 5 },
}))
  test(`the leader is killed when ${what} was folded: each command of the nodes counts once`, async () => {
    const { state, fold, calls, a, b } = rig()
    await a.source.start?.()
    for (let s = 1; s <= 5; s++) {
      await Promise.all([a.second(s), b.second(s)])
      if (s === foldedTo) await fold()
    }
    await seconds([b], 6, 8)
    state.leader = 'b'
    await seconds([b], 9, 11)
    assert.equal(await calls(), 10_000, 'from the first answer at 1 s to the last one at 11 s')
  })

test('the control is away when another box begins to lead: it is asked until it answers', async () => {
  const { state, calls, a, b } = rig()
  await a.source.start?.()
  await seconds([a], 1, 3)
  Object.assign(state, { leader: 'b', isAway: true })
  await seconds([b], 4, 6)
  state.isAway = false
  await seconds([b], 7, 9)
  assert.equal(await calls(), 8000)
})

test('a box that led before measures no more, and goes on with the answers of others when it leads again', async () => {
  const { state, calls, a, b } = rig()
  await a.source.start?.()
  await seconds([a], 1, 3)
  state.leader = 'b'
  await seconds([a, b], 4, 7)
  state.leader = 'a'
  await seconds([a, b], 8, 10)
  assert.equal(await calls(), 9000)
})
