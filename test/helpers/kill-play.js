// Plays of kill -9: a program is killed at a moment that a seed draws, from its start to its end, and what `millrace report`
// then says is compared with what the servers counted.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processStart } from '../../lib/base/lock.js'
import { urlOf } from './fleet.js'
import { at, childrenOf, documentIn, folderIn, linesOf, ownFolder, startProgram, until } from './programs.js'
import { seeded } from './random.js'
import { callsOf, startCluster, startServer } from './servers.js'

/**
 * @import { Random } from './random.js'
 * @import { Scope, TestServer } from './servers.js'
 *
 * @typedef {object} Play
 * @property {(out: string, tmp: string) => { killed: ReturnType<typeof startProgram>, kill: () => void }} start
 * @property {() => Promise<number | null>} stored what the servers have counted so far; null: they are gone
 * @property {() => Promise<number>} [others] of it, what others have stored
 */

const goneMs = 2000
/** After what a kill comes, and within how many milliseconds. @type {[string, number][]} */
const moments = Object.entries({ start: 2500, facts: 1500, 'first second': 1500, 'third second': 2500 })

/** @param {string} what @param {string} folder */
const isReached = (what, folder) => {
  if (what === 'start') return true
  if (what === 'facts') return existsSync(join(folder, 'facts.json'))
  return linesOf(join(folder, 'intervals.ndjson')).length >= (what === 'first second' ? 1 : 3)
}
const rates = [
  '-q 2000 -c 10 -a all',
  '--rate 3000 -a all',
  '--rate max -q 1000 -c 10 -a all',
  '-q 2000 -c 2 -p 500 -a all --arrivals poisson',
  '--rate 1000@1s,4000@1s,2000@2s -a all',
]
const length = '--duration 3s --warm-up 1s'

/** What a server has stored of items. @param {readonly Parameters<typeof callsOf>[0][]} servers */
const itemsOn = async (servers) => {
  const calls = await Promise.all(servers.map((server) => callsOf(server, 'setex')))
  return calls.reduce((sum, n) => sum + n, 0)
}

/** @param {Scope} t @param {Random} random @returns {Promise<Play>} */
const onServer = async (t, random) => {
  const server = await startServer(t)
  const line = random.pick(rates)
  const isTimed = line.includes('@')
  return {
    start: (out) => {
      const killed = startProgram(t, 'producer.js', isTimed ? line : `${line} ${length}`, {
        env: at(server),
        out,
      })
      return { killed, kill: () => killed.kill('SIGKILL') }
    },
    stored: () => itemsOn([server]),
  }
}

/** @param {Scope} t @returns {Promise<Play>} */
const onCluster = async (t) => {
  const { nodes, access } = await startCluster(t, { replicas: 0 })
  const servers = nodes.map(({ host, port }) => ({ host, port, password: access.password }))
  return {
    start: (out) => {
      const line = `-q 2000 -c 10 -a all ${length} --cluster`
      const killed = startProgram(t, 'producer.js', line, { env: at(servers[0]), out })
      return { killed, kill: () => killed.kill('SIGKILL') }
    },
    stored: () => itemsOn(servers),
  }
}

/** Its servers go with it. @param {Scope} t @param {Random} random @returns {Promise<Play>} */
const onLocal = async (t, random) => ({
  start: (out, tmp) => {
    const line = `-q 500 -c 10 -a all ${length} ${random.pick(['', '--cluster --replicas 0'])}`
    const killed = startProgram(t, 'producer.js', line, { env: { TMPDIR: tmp }, out })
    return { killed, kill: () => killed.kill('SIGKILL') }
  },
  stored: async () => null,
})

/** @param {Scope} t @returns {Promise<Play>} */
const onFleet = async (t) => {
  const [target, control] = await Promise.all([startServer(t), startServer(t)])
  const env = { ...at(target), MILLRACE_CONTROL: urlOf(control) }
  const line = `-q 1000 -c 10 -t 2 ${length} --max-behind 1s --run kills`
  /** @type {ReturnType<typeof startProgram>} */
  let other
  return {
    start: (out) => {
      const killed = startProgram(t, 'producer.js', line, { env, out })
      other = startProgram(t, 'producer.js', line, { env, out: ownFolder(t, 'other') })
      return { killed, kill: () => killed.kill('SIGKILL') }
    },
    stored: () => itemsOn([target]),
    others: async () => {
      // A box that waits for one that never comes.
      setTimeout(() => other.kill('SIGINT'), 15_000).unref()
      const { stderr } = await other.ended
      const own = readdirSync(other.out).find((name) => name.startsWith('kills.'))
      const document = own && documentIn(join(other.out, own, 'run.json'))
      if (!document && !/interrupted/.test(stderr)) throw new Error(`the other box has no result: ${stderr}`)
      return document?.items.acked ?? 0
    },
  }
}

/** The program, or one of its processes of workers. @param {Scope} t @param {Random} random @returns {Promise<Play>} */
const onWorkers = async (t, random) => {
  const server = await startServer(t)
  const { redis } = server
  const queue = '--strategy queue-list --rate 1500 --duration 2s'
  const { code, stderr } = await startProgram(t, 'producer.js', queue, { env: at(server) }).ended
  if (code !== 0 && code !== 4) throw new Error(`no jobs: ${stderr}`)
  const all = await redis.llen('{jobs}:list')
  const isChild = random.chance(0.5)
  return {
    start: (out) => {
      const line = '--workers 4 --with processes=2 --work sleep:2ms --duration 3s'
      const killed = startProgram(t, 'consumer.js', line, { env: at(server), out })
      const kill = () => {
        const [child] = existsSync(`/proc/${killed.pid}`) && isChild ? childrenOf(killed.pid) : []
        if (child) process.kill(child.pid, 'SIGKILL')
        else killed.kill('SIGKILL')
      }
      return { killed, kill }
    },
    stored: async () => all - (await redis.llen('{jobs}:list')),
  }
}

export const places = {
  server: onServer,
  cluster: onCluster,
  local: onLocal,
  fleet: onFleet,
  workers: onWorkers,
}

/** The folder of the process that was killed: of a box beside the one of the whole fleet. @param {string} out */
const ownFolderIn = (out) => {
  const own = existsSync(out) && readdirSync(out).find((name) => name.startsWith('kills.'))
  return own ? join(out, own) : folderIn(out)
}

/** Processes with this in their command line. @param {string} text */
const processesWith = (text) =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      return false // it has ended
    }
  })

/** Processes that it has started. @param {number} pid */
const startedBy = (pid) => {
  try {
    return childrenOf(pid).map((child) => ({ pid: child.pid, since: processStart(child.pid) }))
  } catch {
    return [] // it has ended
  }
}

/** @param {string} folder @returns {Promise<{ code: number, text: string }>} */
const reported = async (folder) => {
  const child = spawn(process.execPath, ['lib/cli/millrace.js', 'report', folder], { stdio: 'pipe' })
  let text = ''
  for (const name of /** @type {const} */ (['stdout', 'stderr']))
    child[name].setEncoding('utf8').on('data', (part) => (text += part))
  const [code] = await once(child, 'close')
  return { code, text }
}

const number = (/** @type {string | undefined} */ text) => Number((text ?? '').replaceAll(',', ''))

/**
 * What is said of items: between so many and so many; or why that is wrong.
 * @param {string} folder
 * @param {boolean} hadEnded
 * @returns {Promise<{ said: string, low?: number, high?: number, fault?: string }>}
 */
const saidOf = async (folder, hadEnded) => {
  if (folder === '' || readdirSync(folder).length === 0) return { said: 'nothing', low: 0, high: 0 }
  const { code, text } = await reported(folder)
  const document = documentIn(join(folder, 'run.json'))
  if (!document) {
    const said = text.trim()
    const isTrue = /was killed in its set-up: it had stored nothing$/.test(said)
    return { said, low: 0, high: 0, ...((!isTrue || code !== 2) && { fault: `exit ${code}` }) }
  }
  const killed = document.warnings.find((/** @type {any} */ one) => one.code === 'killed')
  if (!killed) {
    const { acked, failed, uncertain, unsettled } = document.items ?? { acked: document.jobs.done }
    const high = document.items ? acked + failed + uncertain + unsettled : Number.POSITIVE_INFINITY
    return { said: 'a whole result', low: acked, high, ...(code !== 0 && { fault: `exit ${code}: ${text}` }) }
  }
  const said = killed.message
  const [, least, most] = /between ([\d,]+) and ([\d,]+)/.exec(said) ?? []
  const [, done] = /([\d,]+) \w+ or more were/.exec(said) ?? []
  const fault = code !== 4 || hadEnded ? `exit ${code}${hadEnded ? ', though it had ended' : ''}` : undefined
  return {
    ...{ said, low: number(least ?? done ?? '0'), high: most ? number(most) : Number.POSITIVE_INFINITY },
    ...(fault && { fault }),
  }
}

/** @param {Scope} t @param {number} seed @param {keyof typeof places} [place] @returns {Promise<{ line: string, broken: string[] }>} */
export const playKill = async (t, seed, place) => {
  const random = seeded(seed)
  const names = /** @type {(keyof typeof places)[]} */ (Object.keys(places))
  const where = place ?? names[seed % names.length]
  const play = await places[where](t, random)
  const tmp = ownFolder(t, 'tmp')
  const out = join(tmp, 'out')
  const { killed, kill } = play.start(out, tmp)
  // On a busy machine the start of a program takes seconds.
  const [after, withinMs] = random.pick(moments)
  const atMs = Math.round(random.next() * withinMs)
  let hasEnded = false
  void killed.ended.then(() => (hasEnded = true))
  await until(after, () => hasEnded || isReached(after, ownFolderIn(out)))
  await sleep(atMs)
  const wasOver = hasEnded
  const children = startedBy(killed.pid)
  kill()
  const { code, stderr } = await killed.ended
  const broken = []
  const left = () => [
    ...children.filter(({ pid, since }) => since !== undefined && processStart(pid) === since),
    ...processesWith(`${tmp}/`),
  ]
  // Counted: in a pause of the machine they cannot end either.
  for (let looks = 0; looks < goneMs / 20 && left().length > 0; looks++) await sleep(20)
  if (left().length > 0) broken.push(`${left().length} processes are left after ${goneMs / 1000} s`)
  const others = (await play.others?.()) ?? 0
  const counted = await play.stored()
  const { said, low = 0, high = 0, fault } = await saidOf(ownFolderIn(out), wasOver || code === 0)
  if (fault) broken.push(fault)
  if (counted !== null && (counted - others < low || counted - others > high))
    broken.push(`the servers counted ${counted - others}`)
  if (/internal error/.test(stderr)) broken.push(stderr)
  const line = `seed ${seed}, ${where}, killed ${atMs} ms after its ${after}: ${said}; the servers: ${counted === null ? 'gone' : counted - others}`
  return { line, broken }
}
