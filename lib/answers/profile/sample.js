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
 * @typedef {{ count: number, waiting: { name: Buffer, master: Master }[], facts: KeyFacts[] }} Found keys of one pattern
 * @typedef {{ pieces: string[], of: Found }} FoundPattern
 */

const scanCount = 200
// Of the default of 5 the memory of a list of some hundreds is wrong by several percent.
const memorySamples = 20
const mostWaiting = 400
const mostFacts = 400
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
}

const number = (/** @type {unknown} */ reply) => (typeof reply === 'number' ? reply : null)

/** How long a key was not used comes first, since STRLEN and the like use it. @param {Buffer} name @returns {Question[]} */
const questionsOf = (name) => [
  ['OBJECT', 'IDLETIME', name],
  ['TYPE', name],
  ['PTTL', name],
  ['OBJECT', 'ENCODING', name],
  ['MEMORY', 'USAGE', name, 'SAMPLES', memorySamples],
]

/** @param {Asking} asking */
export const sampling = ({ masters, ask, may }) => {
  const patterns = patternsOf(() => /** @type {Found} */ ({ count: 0, waiting: [], facts: [] }), merge)
  /** @type {Set<Found>} */
  const asked = new Set()
  const scans = masters.map((master) => ({ master, cursor: '0', isOver: false }))

  /** One page of names. @param {typeof scans[number]} scan */
  const page = async (scan) => {
    const { master } = scan
    const [{ error, reply }] = await ask(master, [['SCAN', scan.cursor, 'COUNT', scanCount]])
    if (error) throw error
    const [cursor, names] = /** @type {[Buffer, Buffer[]]} */ (reply)
    for (const name of names) {
      const found = patterns.of(name)
      found.count++
      const { waiting } = found
      if (waiting.length < mostWaiting) waiting.push({ name, master })
      else if (Math.random() * found.count < mostWaiting)
        waiting[Math.floor(Math.random() * mostWaiting)] = { name, master }
      asked.add(found)
    }
    scan.cursor = String(cursor)
    scan.isOver = scan.cursor === '0'
  }

  /** @param {Found} found @param {Found['waiting'][number]} key */
  const look = async (found, { name, master }) => {
    const questions = questionsOf(name).filter(may)
    const replies = await ask(master, questions)
    const said = (/** @type {string} */ called, /** @type {string} */ sub = '') =>
      replies[questions.findIndex(([one, two]) => one === called && (sub === '' || two === sub))]?.reply
    const type = String(said('TYPE') ?? 'none')
    if (type === 'none') return
    const command = sizeBy[type]
    const sizes = command && may([command]) ? await ask(master, [[command, name]]) : []
    const encoding = said('OBJECT', 'ENCODING')
    found.facts.push({
      type,
      nameBytes: name.length,
      leftMs: number(said('PTTL')) ?? -1,
      encoding: encoding ? String(encoding).slice(0, 20) : null,
      memory: number(said('MEMORY')),
      idleS: number(said('OBJECT', 'IDLETIME')),
      size: number(sizes[0]?.reply),
    })
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
  return {
    /** One thing to look at; false: there is nothing left. */
    step: async () => {
      const open = scans.filter(({ isOver }) => !isOver)
      const found = nextAsked()
      const scan = open[turn++ % Math.max(1, open.length)]
      if (scan && (found === null || turn % 3 !== 0)) {
        await page(scan)
        return true
      }
      if (found === null) return false
      const [key] = found.waiting.splice(Math.floor(Math.random() * found.waiting.length), 1)
      await look(found, key)
      return true
    },
    patterns: () => /** @type {FoundPattern[]} */ (patterns.all()),
    isComplete: () => scans.every(({ isOver }) => isOver),
  }
}
