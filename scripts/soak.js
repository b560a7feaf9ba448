#!/usr/bin/env node
// Both drivers write for a long time while faults come at random: the accounting must hold, the memory stay flat,
// and no server be left behind.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExitCode } from '../lib/base/errors.js'
import { count } from '../lib/base/units.js'
import { repositoryScript } from '../lib/cli/script.js'
import { refuseNumbers } from './bench/arguments.js'
import { stageOf } from './faults/stage.js'

/** @import { Stage } from './faults/stage.js' */

const usage = `Usage: node scripts/soak.js [options]

  --minutes N     duration (30)
  --every N       seconds from one fault to the next (20)
  --seed N        random seed of the faults (1)
  -h, --help      this text`

const quantity = { socket: 20_000, ioredis: 4000 }
const settleMs = 15_000
// Garbage may stay for a while; a leak of a few bytes an item would be many times this.
const growthLimitMb = 80

/** A seeded choice (mulberry32). @param {number} seed */
const chooser = (seed) => {
  let state = seed >>> 0
  return (/** @type {number} */ n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
}

/** @param {number} pid */
const rssMb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000

const isAlive = (/** @type {number} */ pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** @type {{ name: string, act: (stage: Stage, choose: (n: number) => number) => Promise<unknown> }[]} */
const faults = [
  {
    name: '200 slots moved',
    act: (stage, choose) => {
      const first = choose(16_000)
      return stage.change.move(
        Array.from({ length: 200 }, (_, i) => first + i),
        1 + choose(3),
      )
    },
  },
  { name: 'graceful failover', act: (stage, choose) => stage.change.failover(1 + choose(3)) },
  {
    name: 'master killed and back',
    act: async (stage, choose) => {
      const { master } = await stage.shard(1 + choose(3))
      stage.kill(master)
      await stage.replaced(master)
      await stage.restart(master)
      await stage.whole()
    },
  },
  {
    name: 'replica killed and back',
    act: async (stage, choose) => {
      const { replica } = await stage.shard(1 + choose(3))
      if (!replica) return
      stage.kill(replica)
      await sleep(2000)
      await stage.restart(replica)
    },
  },
  {
    name: 'node frozen for 3 s',
    act: async (stage, choose) => {
      const { master } = await stage.shard(1 + choose(3))
      stage.freeze(master)
      await sleep(3000)
      stage.thaw(master)
    },
  },
]

/** @param {string} driver @param {any} document */
const complaintsOf = (driver, { items, warnings }) => {
  const { offered, acked, failed, uncertain, dropped, unsettled } = items
  const complaints = /** @type {string[]} */ ([])
  if (offered !== acked + failed + uncertain + dropped + unsettled)
    complaints.push(`${driver}: the accounting does not close`)
  if (warnings.some((/** @type {any} */ { code }) => code === 'accounting'))
    complaints.push(`${driver}: accounting`)
  if (uncertain > 0) complaints.push(`${driver}: ${uncertain} uncertain`)
  if (unsettled > 0) complaints.push(`${driver}: ${unsettled} unsettled`)
  return complaints
}

/** @param {{ minutes: number, everyMs: number, choose: (n: number) => number, say: (line: string) => void }} options */
const soak = async ({ minutes, everyMs, choose, say }) => {
  const stage = await stageOf()
  const drivers = /** @type {const} */ (['socket', 'ioredis'])
  const writers = drivers.map((driver) => ({
    driver,
    writer: stage.startWriter(
      `-q ${quantity[driver]} -c 4 --ttl 10 --driver ${driver} --prefix ${driver}:`,
      stage.embedded.endpoints[0],
      { longest: `${Math.ceil(minutes) + 30}m` },
    ),
    /** @type {number[]} */
    memory: [],
  }))
  const complaints = /** @type {string[]} */ ([])
  try {
    const startMs = performance.now()
    const endMs = startMs + minutes * 60_000
    for (let next = startMs + everyMs; performance.now() < endMs; next += everyMs) {
      await sleep(Math.max(0, Math.min(next, endMs) - performance.now()))
      const fault = faults[choose(faults.length)]
      const fromMs = performance.now()
      await fault.act(stage, choose)
      const memory = writers.map(({ driver, writer, memory: seen }) => {
        if (!writer.isRunning()) throw new Error(`${driver} has ended: ${writer.log()}`)
        seen.push(rssMb(Number(writer.pid)))
        return `${driver} ${Math.round(seen[seen.length - 1])} MB`
      })
      const at = Math.round((fromMs - startMs) / 1000)
      say(`${at} s: ${fault.name}, ${Math.round(performance.now() - fromMs)} ms; ${memory.join(', ')}`)
    }
    await stage.whole()
    await sleep(settleMs)
    for (const { driver, writer, memory } of writers) {
      const document = await writer.end()
      const { acked, offered, failed, dropped } = document.items
      say(
        `${driver}: ${count(acked)} of ${count(offered)} acked, ${count(failed)} failed, ${count(dropped)} dropped`,
      )
      complaints.push(...complaintsOf(driver, document))
      // The first third is warm-up.
      const early = Math.max(...memory.slice(0, Math.ceil(memory.length / 3)))
      const late = Math.max(...memory.slice(-Math.ceil(memory.length / 3)))
      if (late > early + growthLimitMb)
        complaints.push(`${driver}: memory grew from ${Math.round(early)} to ${Math.round(late)} MB`)
    }
  } finally {
    for (const { writer } of writers) writer.kill()
    await stage.close()
  }
  for (const { pid, port } of stage.servers)
    if (isAlive(pid)) complaints.push(`the server on port ${port} was left behind`)
  return complaints
}

await repositoryScript({
  usage,
  options: {
    minutes: { type: 'string', default: '30' },
    every: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
  },
  work: async ({ minutes, every, seed }) => {
    refuseNumbers({ minutes, every, seed })
    const complaints = await soak({
      minutes: Number(minutes),
      everyMs: Number(every) * 1000,
      choose: chooser(Number(seed)),
      say: (line) => process.stderr.write(`${line}\n`),
    })
    const verdict =
      complaints.length === 0 ? ['every item accounted for, memory flat, no server left'] : complaints
    process.stdout.write(`${verdict.join('\n')}\n`)
    return complaints.length > 0 ? ExitCode.threshold : ExitCode.done
  },
})
