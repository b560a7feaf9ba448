// Workers in several processes. Each has a file of what it has done, so the jobs of a killed process are still counted;
// another process takes its place.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import { programsEnv, startChild } from '../../base/child.js'
import { TargetError } from '../../base/errors.js'
import { sleep } from '../../base/settlement.js'
import { deferred } from '../../base/timers.js'
import { certain } from '../../base/typed.js'
import { journalReader } from './journal.js'

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { Readable } from 'node:stream'
 * @import { instrumentsOf } from '../../measures/index.js'
 * @import { WorkPlan } from './plan.js'
 * @import { WorkSink } from './flow.js'
 * @import { Orders } from './process.js'
 *
 * @typedef {ReturnType<Awaited<ReturnType<typeof instrumentsOf>>['own']>} Measured
 * @typedef {ReturnType<typeof startGroup>} WorkerGroup
 * @typedef {{ address: () => string, refresh: () => Promise<unknown>, access: Orders['access'], offsetMs: number }} QueueAt
 *   the queue's server
 */

const program = fileURLToPath(new URL('process.js', import.meta.url))
const readEveryMs = 200
const againMs = 200
const readyLimitMs = 20_000

/** Workers by process, as evenly as can be. @param {number} workers @param {number} processes */
const rangesOf = (workers, processes) =>
  Array.from({ length: processes }, (_, p) => {
    const from = Math.floor((p * workers) / processes)
    return { first: from, count: Math.floor(((p + 1) * workers) / processes) - from }
  })

/** Tokens of IAM are signed in this process alone. @param {NodeJS.ProcessEnv} env */
const withoutAws = (env) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('AWS_')))

/** A process of workers, and what it last reported. @param {Orders} orders @param {WorkSink} sink */
const startGroup = (orders, sink) => {
  const reader = journalReader(orders.journal, sink)
  const child = startChild(program, [], {
    env: withoutAws(programsEnv(process.env)),
    secrets: { ORDERS: serialize(orders).toString('base64') },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // A process that was killed reads nothing any more.
  child.stdin?.on('error', () => {})
  const exit = once(child, 'exit')
  const { over: ready, finish } = deferred()
  const group = {
    child,
    reader,
    exit,
    isReady: Promise.race([ready.then(() => true), exit.then(() => false)]),
    /** @type {Measured | null} */
    measured: null,
    whole: true,
    ended: false,
    fault: 'ended before it was ready',
  }
  child.once('exit', () => {
    group.ended = true
    reader.read()
  })
  createInterface({ input: certain(child.stdout) }).on('line', (text) => {
    const line = JSON.parse(text)
    if (line.ready) finish()
    if (line.measured) group.measured = line.measured
    if (line.whole === false) group.whole = false
    if (line.refused) sink.refused(line.refused)
    if (line.event) sink.event(line.event[0], line.event[1])
    if (line.fault) group.fault = line.fault
  })
  return group
}

/** A new token for later connections. @param {readonly WorkerGroup[]} groups @param {string} token */
const tell = (groups, token) => {
  for (const { child, ended } of groups) if (!ended) child.stdin?.write(`token ${token}\n`)
}

/**
 * @param {object} needs
 * @param {WorkPlan} needs.plan
 * @param {string} needs.box
 * @param {QueueAt} needs.server
 * @param {number} needs.stepsPerUs
 * @param {WorkSink} needs.sink
 * @param {(text: string) => void} needs.onKilled a process ended by itself
 */
export const groupsInProcesses = async ({ plan, box, server, stepsPerUs, sink, onKilled }) => {
  const { address, access, offsetMs } = server
  const folder = mkdtempSync(join(tmpdir(), 'millrace-workers-'))
  const ranges = rangesOf(plan.work.workers, plan.work.processes)
  /** @type {WorkerGroup[]} all there were */
  const groups = []
  let stopping = false
  let isWorking = false
  let begun = 0

  /** @param {typeof ranges[number]} range when it is ready */
  const begin = async ({ first, count }) => {
    const number = ++begun
    const names = Array.from({ length: count }, (_, i) => `${box}.${number}.${first + i + 1}`)
    const journal = join(folder, String(number))
    const group = startGroup(
      { plan, names, first, stepsPerUs, offsetMs, address: address(), access, journal },
      sink,
    )
    groups.push(group)
    if (!(await group.isReady))
      throw new TargetError(`a process of workers: ${group.fault}`, { code: 'WORKERS' })
    if (isWorking) group.child.stdin?.write('go\n')
    group.exit.then(async ([code, signal]) => {
      if (stopping) return
      onKilled(`a process of ${count} workers ended (${signal ?? code}); another takes its place`)
      if (code === 3) await server.refresh().catch(() => {})
      const isReplaced = () =>
        begin({ first, count }).then(
          () => true,
          () => false,
        )
      while (!stopping && !(await isReplaced())) await sleep(againMs)
    })
  }

  access.renewed?.((token) => tell(groups, token))
  const readAll = () => {
    for (const { reader } of groups) reader.read()
  }
  const close = () => {
    stopping = true
    clearInterval(timer)
    for (const { child, reader, ended } of groups) {
      if (!ended) child.kill('SIGKILL')
      reader.close()
    }
    groups.length = 0
    rmSync(folder, { recursive: true, force: true })
  }
  const timer = setInterval(readAll, readEveryMs)
  const limit = new Promise((_, reject) => {
    const late = new TargetError('processes of workers did not start in time', { code: 'WORKERS' })
    setTimeout(() => reject(late), readyLimitMs).unref()
  })
  limit.catch(() => {})
  try {
    await Promise.race([Promise.all(ranges.map(begin)), limit])
  } catch (error) {
    close()
    throw error
  }
  /** @type {Measured[]} */
  let last = []
  return {
    start() {
      isWorking = true
      for (const { child } of groups) child.stdin?.write('go\n')
    },
    stop() {
      stopping = true
      for (const { child } of groups) child.stdin?.end()
    },
    /** The sums of what all processes last reported. */
    measured: () => (groups.length > 0 ? groups.flatMap(({ measured }) => measured ?? []) : last),
    pids: () => groups.flatMap(({ child, ended }) => (ended ? [] : [Number(child.pid)])),
    /** @param {number} limitMs @param {AbortSignal} [now] */
    async settle(limitMs, now) {
      for (const untilMs = performance.now() + limitMs; performance.now() < untilMs && !now?.aborted; ) {
        if (groups.every(({ ended }) => ended)) break
        await sleep(10)
      }
      readAll()
      const whole = groups.every(({ whole: all, ended }) => all && ended)
      last = groups.flatMap(({ measured }) => measured ?? [])
      close()
      return whole
    },
    close,
  }
}
