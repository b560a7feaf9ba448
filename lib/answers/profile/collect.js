// Collects a profile within a budget: counters each second, names by SCAN, a few questions about some of the keys, and other
// reports of a server (readings.js) at the beginning and at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { count } from '../../base/units.js'
import { parseInfo } from '../../wire/info.js'
import { budgetOf, total } from './budget.js'
import { patternsOf } from './fold.js'
import { amountsOf } from './noise.js'
import { readings } from './readings.js'

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Socket } from 'node:net'
 * @import { Redis } from 'ioredis'
 */

// Names of keys by SCAN, and a few questions about some of them. No value is read.

/**
 * @typedef {object} KeyFacts one key that was looked at
 * @property {string} type
 * @property {number} nameBytes
 * @property {number} leftMs before it expires; -1: it does not
 * @property {string | null} encoding
 * @property {number | null} memory bytes
 * @property {number | null} idleS since it was used
 * @property {number | null} size bytes of a string, else elements
 *
 * @typedef {{ count: number, waiting: { name: Buffer, master: Master }[], endings: Set<string>, facts: KeyFacts[] }} Found keys of
 *   one pattern; known: those that were asked about
 * @typedef {{ pieces: string[], data: Found }} FoundPattern
 */

const scanCount = 400
// A page of names is read again before each question, since waiting names have less time left, and some have expired.
const scanCountAgain = 64
// With the default of 5 samples, MEMORY USAGE of a list of some hundreds is wrong by several percent.
const memorySamples = 20
const mostWaiting = 100
const mostFacts = 400
// Longer names are counted only.
const longestName = 1024
// Bytes of a name's end by which keys that were asked about are recognised.
const ending = 64
// Keys that are asked about at once: other clients wait for these only, and the server wakes once for them.
const batch = 8
// In a pattern of one type, after this many keys only lifetimes and sizes are asked.
const enough = 60
// A question follows so many pages, until all names were seen.
const pagesPerQuestion = 5
/** @type {Record<string, string>} */
const sizeBy = {
  string: 'STRLEN',
  list: 'LLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  hash: 'HLEN',
  stream: 'XLEN',
}

/** Adds up what a key's pattern has. @param {Found} into @param {Found} from */
const merge = (into, from) => {
  into.count += from.count
  into.waiting.push(...from.waiting.slice(0, mostWaiting - into.waiting.length))
  into.facts.push(...from.facts)
  for (const name of from.endings) into.endings.add(name)
}

const endOf = (/** @type {Buffer} */ name) => name.toString('latin1', Math.max(0, name.length - ending))

const number = (/** @type {unknown} */ reply) => (typeof reply === 'number' ? reply : null)

/** The most commands of a step. */
export const mostAsked = 6 * batch

/** The type that all keys of a pattern had so far. @param {Found} found */
const commonTypeOf = ({ facts }) =>
  facts.length > 0 && facts.every(({ type }) => type === facts[0].type) && facts[0].type in sizeBy
    ? facts[0].type
    : null

/** Idle time comes first, since STRLEN and others reset it. @param {Buffer} name @returns {Question[]} */
const allOf = (name) => [
  ['OBJECT', 'IDLETIME', name],
  ['TYPE', name],
  ['PTTL', name],
  ['OBJECT', 'ENCODING', name],
  ['MEMORY', 'USAGE', name, 'SAMPLES', memorySamples],
]

/** Asks about some keys of a master, and of one pattern. @param {Asking} asking @param {Found} found @param {Found['waiting']} keys */
const askAbout = async ({ ask, may }, found, keys) => {
  const [{ master }] = keys
  const commonType = commonTypeOf(found)
  const asked = keys.map(({ name }, i) => {
    if (!commonType || (i === 0 && found.facts.length < enough)) return allOf(name)
    return allOf(name).filter(([one, two]) =>
      found.facts.length < enough ? two === 'IDLETIME' || one === 'PTTL' || one === 'MEMORY' : one === 'PTTL',
    )
  })
  const questions = asked.map((some) => some.filter(may))
  const replies = await ask(master, questions.flat())
  let from = 0
  const seen = keys.flatMap(({ name }, i) => {
    const own = replies.slice(from, from + questions[i].length)
    from += questions[i].length
    const said = (/** @type {string} */ called, /** @type {string} */ sub = '') =>
      own[questions[i].findIndex(([one, two]) => one === called && (sub === '' || two === sub))]?.reply
    const type = String(said('TYPE') ?? commonType ?? 'none')
    const leftMs = number(said('PTTL')) ?? -1
    // -2: the key is gone.
    if (type === 'none' || leftMs === -2) return []
    const encoding = said('OBJECT', 'ENCODING')
    const fact = {
      type,
      nameBytes: name.length,
      leftMs,
      encoding: encoding ? String(encoding).slice(0, 20) : null,
      memory: number(said('MEMORY')),
      idleS: number(said('OBJECT', 'IDLETIME')),
      size: /** @type {number | null} */ (null),
    }
    return [{ name, fact }]
  })
  const sized = seen.filter(({ fact: { type } }) => sizeBy[type] && may([sizeBy[type]]))
  const sizes =
    sized.length > 0
      ? await ask(
          master,
          sized.map(({ name, fact: { type } }) => [sizeBy[type], name]),
        )
      : []
  for (const [i, { fact }] of sized.entries()) fact.size = number(sizes[i].reply)
  // A key of another type than expected is unknown.
  const isKnown = (/** @type {KeyFacts} */ { type, size }) =>
    type !== commonType || size !== null || !may([sizeBy[type]])
  found.facts.push(...seen.map(({ fact }) => fact).filter(isKnown))
}

/** @param {Asking} asking */
export const sampling = (asking) => {
  const { masters, ask } = asking
  const patterns = patternsOf(
    () => /** @type {Found} */ ({ count: 0, waiting: [], endings: new Set(), facts: [] }),
    merge,
  )
  /** @type {Set<Found>} */
  const asked = new Set()
  const scans = masters.map((master) => ({ master, cursor: '0', isOver: false }))
  // Of full pages only: SCAN visits this many keys, and names those that have not expired.
  const met = { keys: 0, named: 0 }
  const isComplete = () => scans.every(({ isOver }) => isOver)

  /** One page of names. @param {typeof scans[number]} scan */
  const page = async (scan) => {
    const { master } = scan
    const most = scan.isOver ? scanCountAgain : scanCount
    const [{ error, reply }] = await ask(master, [['SCAN', scan.cursor, 'COUNT', most]])
    if (error) throw error
    const [cursor, names] = /** @type {[Buffer, Buffer[]]} */ (reply)
    for (const name of names) {
      const found = patterns.dataOf(name)
      // Names that are seen again are not counted again.
      if (!scan.isOver) found.count++
      const { waiting, endings } = found
      if (name.length > longestName || endings.has(endOf(name))) continue
      // The newest names are asked first: keys with little time left would expire while they wait.
      waiting.push({ name: Buffer.from(name), master })
      if (waiting.length > mostWaiting) waiting.shift()
      asked.add(found)
    }
    scan.cursor = String(cursor)
    if (!scan.isOver && scan.cursor !== '0') {
      met.keys += most
      met.named += names.length
    }
    scan.isOver ||= scan.cursor === '0'
  }

  /** The pattern with the smallest share of known keys. */
  const nextAsked = () => {
    let least = null
    for (const found of asked)
      if (found.waiting.length === 0 || found.facts.length >= mostFacts) asked.delete(found)
      else if (least === null || found.facts.length < least.facts.length) least = found
    return least
  }

  let step = 0
  let pages = 0
  return {
    /** Asks one question; false: nothing is left. */
    step: async () => {
      const found = nextAsked()
      step++
      const all = isComplete()
      const open = scans.filter(({ isOver }) => all || !isOver)
      // All names were seen: some are read again, so that existing keys are asked about.
      const isPage = all
        ? step % 2 === 1 && found !== null
        : found === null || step % (pagesPerQuestion + 1) !== 0
      if (isPage) {
        await page(open[pages++ % open.length])
        return true
      }
      if (found === null) return false
      const { waiting, endings } = found
      /** @type {Found['waiting']} */
      const keys = []
      while (
        keys.length < batch &&
        waiting.length > 0 &&
        waiting.at(-1)?.master === (keys[0] ?? waiting.at(-1)).master
      ) {
        const [key] = waiting.splice(-1)
        if (endings.has(endOf(key.name))) continue
        endings.add(endOf(key.name))
        keys.push(key)
      }
      if (keys.length === 0) return true
      await askAbout(asking, found, keys)
      return true
    },
    patterns: () => /** @type {FoundPattern[]} */ (patterns.all()),
    isComplete,
    /** The share of all keys that have expired and are still there; null: no page was full. */
    staleShare: () => (met.keys === 0 ? null : Math.max(0, 1 - met.named / met.keys)),
  }
}

// Questions to the profiled servers: each is counted, and one that a server refuses is not asked again.

/**
 * @typedef {{ address: string, client: Redis }} Master
 * @typedef {(string | Buffer | number)[]} Question
 * @typedef {{ error: Error | null, reply: unknown }} Answer
 * @typedef {ReturnType<typeof asking>} Asking
 */

const ofContainers = /^(object|memory|client|latency|slowlog|commandlog|cluster|hotkeys)$/

/** The name by ACLs and commandstats: of a container command with its subcommand. @param {Question} question */
const calledBy = ([name, sub]) => {
  const lower = String(name).toLowerCase()
  return ofContainers.test(lower) ? `${lower}|${String(sub).toLowerCase()}` : lower
}

/** A missing key is no reason to stop asking. */
const isOfKey = /no such key|WRONGTYPE/i
const isUnknown = /unknown (command|subcommand)|^ERR syntax error/i

/** @param {readonly Master[]} masters */
export const asking = (masters) => {
  /** @type {Record<string, number>} */
  const calls = {}
  /** @type {Set<string>} */
  const refused = new Set()
  /** @type {Set<string>} */
  const unknown = new Set()
  let writes = 0

  /** Several at once, in order. @param {Master} master @param {Question[]} questions @returns {Promise<Answer[]>} */
  const ask = async ({ client }, questions) => {
    const line = client.pipeline()
    writes++
    for (const question of questions) {
      const called = calledBy(question)
      calls[called] = (calls[called] ?? 0) + 1
      const [name, ...args] = question
      line.callBuffer(String(name), ...args)
    }
    const replies = (await line.exec()) ?? []
    return replies.map(([error, reply], i) => {
      if (error && !isOfKey.test(error.message))
        (isUnknown.test(error.message) ? unknown : refused).add(calledBy(questions[i]))
      return { error, reply: error ? null : reply }
    })
  }

  return {
    masters,
    calls,
    refused,
    unknown,
    ask,
    /** Whether it was not refused so far. @param {Question} question */
    may: (question) => !refused.has(calledBy(question)) && !unknown.has(calledBy(question)),
    count: () => Object.values(calls).reduce((sum, n) => sum + n, 0),
    writes: () => writes,
    /** For our own connections. */
    bytes: () => {
      const sockets = masters.flatMap(({ client }) => /** @type {Socket | undefined} */ (client.stream) ?? [])
      return {
        in: sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
        out: sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      }
    },
  }
}

// If INFO alone exceeds the budget, it is asked less often: this many times, or once in this time.
const fewestInfos = 10
const longestInfoMs = 10_000

/** What changes in a second; servers before 7.0 take one section at a time. @param {Info} info @returns {string[]} */
const changing = ({ fields }) =>
  Number.parseInt(fields.redis_version, 10) >= 7 ? ['stats', 'cpu', 'commandstats', 'keyspace'] : ['all']

/**
 * @param {object} needs
 * @param {readonly Master[]} needs.masters
 * @param {number} needs.durationMs
 * @param {number} needs.budget share of the server's commands
 * @param {AbortSignal} needs.stop
 * @param {(text: string) => void} [needs.say]
 * @param {(seconds: number) => void} [needs.onSecond]
 * @param {() => number} [needs.clock]
 */
export const collected = async ({
  masters,
  durationMs,
  budget,
  stop,
  say,
  onSecond,
  clock = () => performance.now(),
}) => {
  const questions = asking(masters)
  const sample = sampling(questions)
  const others = readings(questions, { durationMs })
  const infos = (/** @type {string[]} */ ...sections) =>
    Promise.all(
      masters.map(async (master) => {
        const [{ error, reply }] = await questions.ask(master, [['INFO', ...sections]])
        if (error) throw error
        return parseInfo(String(reply))
      }),
    )
  const waited = (/** @type {number} */ ms) => sleep(ms, undefined, { signal: stop }).catch(() => {})

  const bytesBefore = questions.bytes()
  const begin = await infos('all')
  const startMs = clock()
  const limits = budgetOf({ begin, questions, budget, durationS: durationMs / 1000 })
  if (!limits.isEnough)
    say?.(
      `the servers have ${count(total(begin, 'instantaneous_ops_per_sec'))} commands/s: looking sends ${count(limits.floor)}/s, more than --share`,
    )
  await others.begin(begin)
  limits.keepForEnd()
  const series = [amountsOf(begin, 0)]
  let isDone = false
  /** Asks questions within the budget until the second is over. @param {number} seconds @param {number} secondMs */
  const lookAround = async (seconds, secondMs) => {
    const isOver = () => stop.aborted || clock() - secondMs >= 1000
    while (!isDone && !isOver() && limits.isLeft(seconds + 1, mostAsked)) {
      const before = limits.used()
      isDone = !(await sample.step())
      // Evenly over the second.
      const wait = (1000 * (limits.used() - before)) / limits.perS() - 1
      if (wait > 1) await waited(Math.min(wait, 1000 - (clock() - secondMs)))
    }
  }
  const rarely = Math.min(longestInfoMs, durationMs / fewestInfos) / 1000
  for (let latestS = 0; !stop.aborted && clock() - startMs < durationMs; ) {
    const secondMs = clock()
    const seconds = (secondMs - startMs) / 1000
    if (seconds - latestS >= rarely || !limits.isDear(seconds)) {
      const latest = await infos(...changing(begin[0]))
      latestS = (clock() - startMs) / 1000
      limits.note(latest, latestS)
      // The first second does not include the questions of the beginning.
      if (latestS < 0.5) series.length = 0
      series.push(amountsOf(latest, latestS))
    }
    await lookAround(seconds, secondMs)
    onSecond?.(Math.round(seconds))
    const restMs = Math.min(1000 - (clock() - secondMs), durationMs - (clock() - startMs))
    if (restMs > 0) await waited(restMs)
  }
  const read = await others.end(begin)
  const [calls, cost] = [{ ...questions.calls }, limits.cost()]
  const end = await infos('all')
  const seconds = (clock() - startMs) / 1000
  const bytes = questions.bytes()
  const { remarks, ...own } = cost(end)
  return {
    begin,
    end,
    seconds,
    series,
    own: { ...own, calls, in: bytes.in - bytesBefore.in, out: bytes.out - bytesBefore.out },
    patterns: sample.patterns(),
    complete: sample.isComplete(),
    stale: sample.staleShare(),
    read,
    remarks: [...others.remarks, ...remarks],
    refused: [...questions.refused],
    unknown: [...questions.unknown],
  }
}

/** @typedef {Awaited<ReturnType<typeof collected>>} Collected */
