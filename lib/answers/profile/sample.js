// Names of keys by SCAN, and a few questions about some of them. No value is read.
import { patternsOf } from './fold.js'

/**
 * @import { Asking, Master, Question } from './ask.js'
 *
 * @typedef {object} KeyFacts one key that was looked at
 * @property {string} type
 * @property {number} nameBytes
 * @property {number} leftMs before it expires; -1: it does not
 * @property {string | null} encoding
 * @property {number | null} memory bytes
 * @property {number | null} idleS since it was used
 * @property {number | null} size bytes of a string, else elements
 *
 * @typedef {{ count: number, waiting: { name: Buffer, master: Master }[], known: Set<string>, facts: KeyFacts[] }} Found keys of
 *   one pattern; known: those that were asked about
 * @typedef {{ pieces: string[], of: Found }} FoundPattern
 */

const scanCount = 400
// Names that are seen again, before each look: those that wait have less time left, and those that have gone had least.
const scanCountAgain = 64
// With the default of 5, the memory of a list of some hundreds is wrong by several percent.
const memorySamples = 20
const mostWaiting = 100
const mostFacts = 400
// Longer names are counted, and not asked about.
const longestName = 1024
// What distinguishes names that were asked about.
const ending = 64
// Keys that are asked about at once: no other client waits for more than these, and a server wakes for them once.
const batch = 8
// In a pattern of one type, the first keys are asked for everything, and after so many none: lifetimes and sizes are left.
const enough = 60
// A look after so many pages, until all names were seen.
const pagesALook = 5
const sizeBy = /** @type {Record<string, string>} */ ({
  string: 'STRLEN',
  list: 'LLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  hash: 'HLEN',
  stream: 'XLEN',
})

/** Adds up what a key's pattern has. @param {Found} into @param {Found} from */
const merge = (into, from) => {
  into.count += from.count
  into.waiting.push(...from.waiting.slice(0, mostWaiting - into.waiting.length))
  into.facts.push(...from.facts)
  for (const name of from.known) into.known.add(name)
}

const endOf = (/** @type {Buffer} */ name) => name.toString('latin1', Math.max(0, name.length - ending))

const number = (/** @type {unknown} */ reply) => (typeof reply === 'number' ? reply : null)

/** The most commands of a step. */
export const mostAsked = 6 * batch

/** The type that all keys of a pattern had so far. @param {Found} found */
const knownType = ({ facts }) =>
  facts.length > 0 && facts.every(({ type }) => type === facts[0].type) && facts[0].type in sizeBy
    ? facts[0].type
    : null

/** How long a key was not used comes first, since STRLEN and the like use it. @param {Buffer} name @returns {Question[]} */
const allOf = (name) => [
  ['OBJECT', 'IDLETIME', name],
  ['TYPE', name],
  ['PTTL', name],
  ['OBJECT', 'ENCODING', name],
  ['MEMORY', 'USAGE', name, 'SAMPLES', memorySamples],
]

/** Asks about some keys of a master, and of one pattern. @param {Asking} asking @param {Found} found @param {Found['waiting']} keys */
const look = async ({ ask, may }, found, keys) => {
  const [{ master }] = keys
  const known = knownType(found)
  const asked = keys.map(({ name }, i) => {
    if (!known || (i === 0 && found.facts.length < enough)) return allOf(name)
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
    const type = String(said('TYPE') ?? known ?? 'none')
    const leftMs = number(said('PTTL')) ?? -1
    // -2: it has gone.
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
  // It has another type than was asked for: nothing is known of it.
  const isKnown = (/** @type {KeyFacts} */ { type, size }) =>
    type !== known || size !== null || !may([sizeBy[type]])
  found.facts.push(...seen.map(({ fact }) => fact).filter(isKnown))
}

/** @param {Asking} asking */
export const sampling = (asking) => {
  const { masters, ask } = asking
  const patterns = patternsOf(
    () => /** @type {Found} */ ({ count: 0, waiting: [], known: new Set(), facts: [] }),
    merge,
  )
  /** @type {Set<Found>} */
  const asked = new Set()
  const scans = masters.map((master) => ({ master, cursor: '0', isOver: false }))
  // Only of pages that are full: SCAN goes on until it has met so many, and names those that have not expired.
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
      const found = patterns.of(name)
      // Names that are seen again are not counted again.
      if (!scan.isOver) found.count++
      const { waiting, known } = found
      if (name.length > longestName || known.has(endOf(name))) continue
      // The last ones are asked for first: of keys that wait, those with little time left would go.
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

  /** The pattern of which least is known. */
  const nextAsked = () => {
    let least = null
    for (const found of asked)
      if (found.waiting.length === 0 || found.facts.length >= mostFacts) asked.delete(found)
      else if (least === null || found.facts.length < least.facts.length) least = found
    return least
  }

  let turn = 0
  let pages = 0
  return {
    /** One thing to look at; false: there is nothing left. */
    step: async () => {
      const found = nextAsked()
      turn++
      const all = isComplete()
      const open = scans.filter(({ isOver }) => all || !isOver)
      // All names were seen: some are seen again, so that keys are asked for that are there now.
      const isPage = all ? turn % 2 === 1 && found !== null : found === null || turn % (pagesALook + 1) !== 0
      if (isPage) {
        await page(open[pages++ % open.length])
        return true
      }
      if (found === null) return false
      const { waiting, known } = found
      const keys = /** @type {Found['waiting']} */ ([])
      while (
        keys.length < batch &&
        waiting.length > 0 &&
        waiting.at(-1)?.master === (keys[0] ?? waiting.at(-1)).master
      ) {
        const [key] = waiting.splice(-1)
        if (known.has(endOf(key.name))) continue
        known.add(endOf(key.name))
        keys.push(key)
      }
      if (keys.length === 0) return true
      await look(asking, found, keys)
      return true
    },
    patterns: () => /** @type {FoundPattern[]} */ (patterns.all()),
    isComplete,
    /** The share of all keys that have expired and are still there; null: no page was full. */
    staleShare: () => (met.keys === 0 ? null : Math.max(0, 1 - met.named / met.keys)),
  }
}
