// The control of the simulation and a real server give the same answers to the same calls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlClient, controlOf, placeOf } from '../../lib/fleet/control.js'
import { disconnect } from '../../lib/servers/disconnect.js'
import { seeded } from '../helpers/random.js'
import { startServer } from '../helpers/servers.js'
import { controlModel } from '../simulation/control-model.js'

const seeds = 20
const steps = 120

/** Ids of entries by their order: a server makes them of its clock. */
const ordinals = () => {
  /** @type {string[]} */
  const ids = []
  return {
    of: (/** @type {string} */ id) => (ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1),
    at: (/** @type {number} */ n) => ids[n] ?? '0-0',
    count: () => ids.length,
  }
}

/** What a box sends that leads, or believes so. @param {number} n */
const sampled = (n) => JSON.stringify({ box: `${n}`, nodes: [{ address: 'm:1' }], sampler: { n } })

/** One of the calls that a box or a leader may make at any moment. @param {ReturnType<typeof seeded>} random */
const drawnCall = (random) => {
  const box = random.pick(['a', 'b', 'c'])
  const data = random.pick(['one', 'one', 'one', 'two'])
  const call = random.pick('join beat beat beat commit commit read expire forget'.split(' '))
  if (call === 'forget' && !random.chance(0.2)) return { call: 'read', from: 0 }
  return {
    ...{ call, box, data, from: random.below(8), n: random.below(1e6) },
    digest: random.chance(0.9) ? 'same' : 'other',
    startMs: random.chance(0.3) ? 1_800_000_000_000 : null,
    mayLead: random.chance(0.8),
    intervals: Array.from({ length: random.below(3) }, () =>
      random.chance(0.5) ? `interval ${random.below(1e6)}` : sampled(random.below(1e6)),
    ),
    end: random.chance(0.1) ? 'end' : '',
    isNext: random.chance(0.7),
  }
}

test('a control in memory answers as a server does', async (t) => {
  const server = await startServer(t)
  const place = placeOf({ host: server.host, port: server.port, password: server.password })
  const client = controlClient(place, 'contract')
  await client.connect()
  t.after(() => disconnect(client))
  const seen = new Set()
  for (let seed = 1; seed <= seeds; seed++) {
    const random = seeded(seed)
    const model = controlModel()
    const real = controlOf(client, `run-${seed}`)
    let ids = [ordinals(), ordinals()]
    let commits = ''
    for (let step = 0; step < steps; step++) {
      const drawn = /** @type {any} */ (drawnCall(random))
      const { call, box, data } = drawn
      /** @param {any} control @param {number} which */
      const asked = async (control, which) => {
        if (call === 'join') {
          const description = `description ${drawn.n}`
          const { begunMs, ...answer } = await control.join({ ...drawn, plan: '{}', writers: 2, description })
          return answer
        }
        if (call === 'beat') return control.beat({ ...drawn, description: '' })
        if (call === 'read') {
          const entries = await control.read(ids[which].at(drawn.from - 1), 3)
          for (const [, text] of entries) seen.add(text.includes('"nodes":[]') ? 'read late' : 'read whole')
          return entries.map((/** @type {[string, string]} */ [id, text]) => [ids[which].of(id), text])
        }
        const before = drawn.isNext ? commits : 'another'
        const last = ids[which].at(ids[which].count() - 1)
        const checkpoint = `checkpoint ${drawn.n}`
        const seconds = [`second ${drawn.n}`]
        return control.commit({ data, box, before, name: `commit ${step}`, last, checkpoint, seconds })
      }
      if (call === 'expire') {
        model.expire()
        await client.del(real.keys.leader)
        continue
      }
      if (call === 'forget') {
        model.forget()
        await client.flushall()
        commits = ''
        ids = [ordinals(), ordinals()]
        continue
      }
      const [expected, found] = [await asked(model, 0), await asked(real, 1)]
      // It expires where the play says so, not where a machine stands still.
      await client.persist(real.keys.leader)
      assert.deepEqual(found, expected, `seed ${seed}, step ${step}: ${JSON.stringify(drawn)}`)
      if (call === 'commit' && found) commits = `commit ${step}`
      seen.add(
        `${call} ${found?.state ?? found?.hasData ?? (Array.isArray(found) ? found.length > 0 : found)}`,
      )
      assert.equal(await real.checkpoint(), model.checkpoint(), `seed ${seed}, step ${step}`)
      assert.deepEqual(await real.seconds(), model.seconds())
      assert.deepEqual(await real.ends(), model.ends())
      assert.equal((await client.get(real.keys.leader)) ?? '', model.leader())
      assert.equal(await client.xlen(real.keys.stream), model.left())
    }
  }
  const wanted =
    'join ok,join other,beat joining,beat started,beat ,commit true,commit false,read true,read late,read whole'
  for (const one of wanted.split(',')) assert.ok(seen.has(one), `${one}, of ${[...seen].join(', ')}`)
})
