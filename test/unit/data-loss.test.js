import { dataLossOf } from '../../lib/run/frame.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** @import { NodeRow } from '../../lib/probes/node-sampler.js' */

/** m1:keys=30:loading is a master of shard 1 that is loading, in its second answer. @param {string} text @returns {NodeRow} */
const row = (text) => {
  const [address, ...changes] = text.split(':')
  const role = address.startsWith('m') ? 'master' : 'replica'
  const is = { address, shard: Number(address.at(1)), role, at_ms: 0, keys: 10_000, expired: 0, evicted: 0 }
  if (changes[0] === 'silent')
    return /** @type {any} */ ({ ...is, keys: undefined, expired: undefined, gap: 'silent' })
  const changed = changes.map((change) => {
    const [name, value = 'true'] = change.split('=')
    return [name, /^\d|true/.test(value) ? JSON.parse(value) : value || undefined]
  })
  return { ...is, ...Object.fromEntries(changed) }
}

/** Whether what makes keys says how many these are. @param {boolean} [isCounted] */
const sceneOf = (isCounted) => () => {
  const { note, taken } = notes()
  const state = { nowMs: 0, made: 0 }
  const target = /** @type {any} */ ({ topology: { masters: ['m1'], owners: null } })
  const { asking, check, end } = dataLossOf({
    target,
    created: isCounted ? () => state.made : undefined,
    elapsed: () => state.nowMs,
    note: (kind, text) => note(`${kind}: ${text}`),
    warn: ({ code, invalidates, message }) => {
      const why = /what was .* gone|may be those of other programs/.exec(message)
      note(`${code} ${invalidates ? 'invalidates' : 'warns'}: ${why}`)
    },
  })
  const second = (/** @type {string[]} */ rows) => {
    state.nowMs += 1000
    asking()
    check(rows.map(row))
  }
  const steps = {
    /** @param {number} n @param {string[]} rows of each of so many seconds */
    pass: (n, ...rows) => {
      for (let i = 0; i < n; i++) second(rows)
    },
    /** More keys are made, and so many of all are gone. @param {string} more @param {string} gone @param {string} change */
    make: (more, gone, change = '') => {
      state.made += Number(more)
      second([`m1:keys=${3 + state.made - Number(gone)}${change}`])
    },
    masters: (/** @type {string} */ masters, /** @type {string} */ parts) => {
      const owners = Uint16Array.from(parts.split(',').flatMap((n, i) => Array(Number(n)).fill(i)))
      target.topology = { masters: masters.split(','), owners }
    },
    end,
  }
  return { steps, seen: () => taken() || 'no loss' }
}

testScenes(sceneOf())(`
keys that a master has not read from its disk yet are not gone, and those it has lost are
  pass 3 m1, pass 8 m1:keys=200:loading, pass 5 m1 -> no loss
  pass 8 m1:keys=200:loading, pass 5 m1:keys=9000 -> data-lost: 1,000 of 10,000 keys of the masters are gone (seen after 25.0 s) that neither expired nor were evicted, data-lost warns: may be those of other programs

a master that restarted, or whose keys were flushed, is reported with its moment when it still serves
  pass 3 m1, pass 1 m1:restarted:gap=restarted:keys=12:expired= -> no loss
  pass 1 m1:keys=400 -> data-lost: m1 restarted (seen after 4.0 s) and has 12 keys; it had 10,000, data-lost invalidates: what was acknowledged before may be gone
  pass 1 m1:keys=90:flushes=1, pass 3 m1:keys=500 -> data-lost: the keys of m1 were removed by FLUSHALL or FLUSHDB (seen after 6.0 s); it had 400, data-lost invalidates: what was acknowledged before may be gone

what happened in the last second of a run is reported at its end
  pass 2 m1, pass 1 m1:flushes=1 -> no loss
  end -> data-lost: the keys of m1 were removed by FLUSHALL or FLUSHDB (seen after 3.0 s); it had 10,000, data-lost invalidates: what was acknowledged before may be gone

keys that vanish are lost when they stay away
  pass 1 m1:keys=0:expired=:evicted=, pass 3 m1, pass 2 m1:keys=2000, pass 1 m1 -> no loss
  pass 4 m1:keys=2000 -> data-lost: 8,000 of 10,000 keys of the masters are gone (seen after 8.0 s) that neither expired nor were evicted, data-lost invalidates: what was acknowledged before may be gone

those that were there before may be of others
  pass 1 m1:expired=:evicted=, pass 3 m1, pass 2 m1:keys=2000, pass 1 m1 -> no loss
  pass 4 m1:keys=2000 -> data-lost: 8,000 of 10,000 keys of the masters are gone (seen after 8.0 s) that neither expired nor were evicted, data-lost warns: may be those of other programs

a replica that is promoted without the data has lost it
  masters m1,m2 8,8, pass 3 m1 r1:keys=0 m2 -> no loss
  masters r1,m2 8,8, pass 2 m1:silent r1:role=master:keys=30 m2 -> data-lost: r1 became the master of its shard (seen after 4.0 s) with 30 keys; m1 had 10,000, data-lost invalidates: what was acknowledged before may be gone

a promoted replica that evicted some keys has lost the others
  masters m1,m2 8,8, pass 3 m1 r1 m2, masters r1,m2 8,8, pass 1 m1:silent r1:role=master:keys=2000:evicted=1000 m2 -> no loss
  pass 1 m1:silent r1:role=master:keys=2000 m2 -> data-lost: r1 became the master of its shard (seen after 4.0 s) with 2,000 keys; m1 had 10,000, data-lost invalidates: what was acknowledged before may be gone

no loss: a promoted replica evicts keys
  masters m1,m2 8,8, pass 3 m1 r1 m2, masters r1,m2 8,8, pass 1 m1:silent r1:role=master:keys=2000:evicted=8000 m2 -> no loss
  pass 5 m1:silent r1:role=master:keys=2000 m2, end -> no loss

no loss: a promoted replica evicts keys before it is known as the master
  masters m1,m2 8,8, pass 3 m1 r1 m2, pass 1 m1:silent r1:role=master:keys=4000:evicted=6000 m2 -> no loss
  masters r1,m2 8,8, pass 1 m1:silent r1:role=master:keys=3000:evicted=500:expired=500 m2 -> no loss
  pass 5 m1:silent r1:role=master:keys=3000 m2, end -> no loss

no loss: a replica that restarts or is flushed
  masters m1,m2 8,8, pass 2 m1 m2 r1, pass 3 m1 m2 r1:restarted:flushes=1:keys=0, end -> no loss

no loss: a promoted replica has the data; the master before it may come back empty
  masters m1,m2 8,8, pass 3 m1 r1 m2, pass 2 m1:silent r1 m2 -> no loss
  masters r1,m2 8,8, pass 1 m1:silent r1:role=master:keys=9900:expired=60 m2 -> no loss
  pass 1 m1:restarted:keys=0 r1:role=master:keys=9900:expired=60 m2 -> no loss
  pass 14 m1:role=replica:keys=0 r1:role=master:keys=9840 m2, end -> no loss

no loss: slots that move, and keys that are counted on both sides meanwhile
  masters m1,m2 8,8, pass 3 m1 m2, masters m1,m2 4,12, pass 4 m1 m2:keys=15000 -> no loss
  pass 20 m1:keys=5000 m2:keys=15000, end -> no loss

no loss: a shard that leaves is emptied and flushed
  masters m1,m2 8,8, pass 3 m1 m2, masters m1,m2 12,4, pass 1 m1:keys=15000 m2:keys=5000 -> no loss
  masters m1,m2 16,0, pass 1 m1:keys=20000 m2:keys=0, pass 1 m1:keys=20000 m2:keys=0:flushes=1 -> no loss
  masters m1 16, pass 20 m1:keys=20000 m2:silent, end -> no loss

no loss: keys that expire or are evicted are gone by right, also while their master is silent
  masters m1,m2 8,8, pass 3 m1 m2, pass 1 m1:keys=7000:expired=3000 m2:silent -> no loss
  pass 1 m1:keys=5000:expired=2000 m2:keys=2000:evicted=8000, pass 5 m1:keys=5000 m2:keys=2000, end -> no loss
`)

testScenes(sceneOf(true))(`
keys that are gone while the load makes more of them are reported
  make 0 0, make 5000 0, make 5000 0, make 5000 0, make 5000 0 -> no loss
  make 5000 2000 :expired=2000, make 5000 2000 -> no loss
  make 5000 5000, make 5000 5000, make 5000 5000 -> data-lost: 3,000 of 43,003 keys of the masters are gone (seen after 8.0 s) that neither expired nor were evicted, data-lost invalidates: what was acknowledged before may be gone

where there were keys before, some may be written over
  pass 1 m1, make 5000 -4997, make 5000 3, make 5000 5003, make 5000 10003, make 5000 15003 -> no loss
`)
