// Arguments as bytes: encoded once for each combination of widths, then only the differing digits are written. 96 ns a GET,
// where a template literal takes 275 and a table of encoded commands 320 (a million keys, cache misses).
import { argumentSize, countSize, digitsOf, putArgument, putCount } from '../../wire/encode.js'

/**
 * @import { Argument as Encoded, Hole, Part, TickValues } from '../../wire/encode.js'
 * @import { Variable } from '../declare.js'
 * @import { Key } from './writer.js'
 *
 * @typedef {{ variable: Variable, at: number, end: number }} Place
 * @typedef {{ bytes: Buffer, places: Place[], size: number, cut: Cut | null }} CommandTemplate `cut`: what follows the bytes
 * @typedef {{ lead: CommandTemplate & { shift: number }, own: Variable, width: number, after: CommandTemplate }} Cut an argument of the item's
 *   own width, behind fixed parts, and the arguments after it
 * @typedef {string | number | Buffer | Variable} TemplatePart
 */

// '00' to '99'
const pairs = Buffer.from(Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0')).join(''))

/** Ends at `end`. */
const putDigits = (/** @type {Buffer} */ out, /** @type {number} */ end, /** @type {number} */ x) => {
  let at = end
  let rest = x
  while (rest >= 100) {
    const next = Math.floor(rest / 100)
    const pair = (rest - next * 100) * 2
    out[--at] = pairs[pair + 1]
    out[--at] = pairs[pair]
    rest = next
  }
  if (rest >= 10) {
    out[--at] = pairs[rest * 2 + 1]
    out[--at] = pairs[rest * 2]
  } else out[--at] = 48 + rest
}

const isVariable = (/** @type {TemplatePart} */ part) =>
  typeof part === 'object' && !(part instanceof Uint8Array) ? part : null

/**
 * Arguments whose variables are numbers, of fixed width, each item's own width, or a tick's: a template for each
 * combination of the numbers' widths. Null where one is a text made of the item.
 * @param {string | null} name of a whole command; null: arguments in the middle of one
 * @param {readonly (readonly TemplatePart[])[]} args what each is made of
 * @param {number} [total] arguments of the whole command
 * @returns {((n: number) => CommandTemplate) | null}
 */
export const templatesOf = (name, args, total = args.length) => {
  const variables = args.flatMap((arg) => arg.flatMap((part) => isVariable(part) ?? []))
  const numbers = variables.filter(({ put, hole }) => !put && !hole)
  if (numbers.length > 6 || numbers.some(({ forItem }) => typeof forItem?.(0) !== 'number')) return null
  const cut = args.findIndex((arg) => arg.some((part) => isVariable(part)?.widthOf))
  if (cut >= 0) return cutTemplates(name, args, cut, total)
  const lead = name === null ? Buffer.alloc(0) : leadOf(name, total)
  /** @type {CommandTemplate[]} */
  const templates = []

  /** @param {number} widths @param {number} n @returns {CommandTemplate} */
  const make = (widths, n) => {
    const encoded = args.map((arg) => arg.map((part) => asPart(part, n)))
    const size = encoded.reduce((sum, arg) => sum + argumentSize(arg), lead.length)
    const bytes = Buffer.alloc(size)
    lead.copy(bytes)
    /** @type {Place[]} */
    const places = []
    let at = lead.length
    for (const [a, arg] of args.entries()) {
      const widthsOf = arg.map((part) => widthOf(part, n))
      let place = at + headerOf(widthsOf.reduce((sum, width) => sum + width, 0))
      for (const [i, part] of arg.entries()) {
        const variable = isVariable(part)
        if (variable) places.push({ variable, at: place, end: place + widthsOf[i] })
        place += widthsOf[i]
      }
      at = putArgument(bytes, at, encoded[a], blank)
    }
    templates[widths] = { bytes, places, size, cut: null }
    return templates[widths]
  }

  return (n) => {
    let widths = 0
    for (let v = 0; v < numbers.length; v++) widths = widths * 16 + digitsOf(numberOf(numbers[v], n))
    return templates[widths] ?? make(widths, n)
  }
}

/** `*3\r\n$3\r\nSET\r\n` @param {string} name @param {number} total arguments behind it */
const leadOf = (name, total) => {
  const bytes = Buffer.alloc(countSize(total + 1) + argumentSize(name))
  putArgument(bytes, putCount(bytes, 0, total + 1), name, blank)
  return bytes
}

/**
 * The same around an argument of each item's own width. What it returns is the same object each time.
 * @param {string | null} name
 * @param {readonly (readonly TemplatePart[])[]} args
 * @param {number} at the first such argument: fixed parts, and then the item's own
 * @param {number} total
 * @returns {((n: number) => CommandTemplate) | null}
 */
const cutTemplates = (name, args, at, total) => {
  const before = templatesOf(name, args.slice(0, at), total)
  const after = templatesOf(null, args.slice(at + 1))
  const parts = args[at]
  const own = isVariable(parts[parts.length - 1])
  if (!before || !after || !own?.widthOf) return null
  const { widthOf: widthOfItem } = own
  const lead = templatesOf(null, [parts.slice(0, -1)])?.(0)
  if (!lead || parts.slice(0, -1).some((part) => isVariable(part) && !isVariable(part)?.hole)) return null
  const widths = parts.slice(0, -1).map((part) => widthOf(part, 0))
  const fixedWidth = widths.reduce((sum, width) => sum + width, 0)
  const cut = {
    // The fixed parts of the argument, without their header and end.
    lead: { ...lead, bytes: lead.bytes.subarray(headerOf(fixedWidth), -2), shift: headerOf(fixedWidth) },
    own,
    width: 0,
    after: lead,
  }
  /** @type {CommandTemplate} */
  const template = { ...lead, cut }
  return (n) => {
    const first = before(n)
    cut.after = after(n)
    cut.width = widthOfItem(n)
    template.bytes = first.bytes
    template.places = first.places
    template.size =
      first.size + headerOf(fixedWidth + cut.width) + fixedWidth + cut.width + 2 + cut.after.size
    return template
  }
}

/**
 * @param {readonly Place[]} places
 * @param {number} n
 * @param {Buffer} out
 * @param {number} at
 * @param {TickValues} values
 * @param {((hole: Hole, at: number) => void) | undefined} note
 */
const putPlaces = (places, n, out, at, values, note) => {
  for (let h = 0; h < places.length; h++) {
    const { variable, at: place, end } = places[h]
    if (variable.put) variable.put(n, out, at + place, end - place)
    else if (variable.hole) {
      const text = values[variable.hole.hole]
      for (let d = 0; d < text.length; d++) out[at + place + d] = text.charCodeAt(d)
      note?.(variable.hole, at + place)
    } else putDigits(out, at + end, numberOf(variable, n))
  }
}

/**
 * Writes a template with item n's and the tick's values; `note` learns where each hole lies.
 * @param {CommandTemplate} template
 * @param {number} n
 * @param {Buffer} out
 * @param {number} at
 * @param {TickValues} values
 * @param {(hole: Hole, at: number) => void} [note]
 * @returns {number} where the next begins
 */
export const putTemplate = ({ bytes, places, cut }, n, out, at, values, note) => {
  out.set(bytes, at)
  putPlaces(places, n, out, at, values, note)
  const end = at + bytes.length
  return cut === null ? end : putCut(cut, n, out, end, values, note)
}

/**
 * A command that carries many items, as bytes: some of its arguments are repeated for each, the others are one value.
 * @param {string} name
 * @param {readonly { templateFor: ReturnType<typeof templatesOf>, repeated: number, value: (items: number, key: Key) => Encoded }[]} pieces
 */
export const gatheredBytes = (name, pieces) => {
  const single = 1 + pieces.filter(({ templateFor }) => templateFor === null).length
  const repeated = pieces.reduce((sum, piece) => sum + piece.repeated, 0)
  return {
    /** @param {ArrayLike<number>} ns @param {number} count of them @param {Key} key */
    size(ns, count, key) {
      let size = countSize(single + repeated * count) + argumentSize(name)
      for (const { templateFor, value } of pieces) {
        if (templateFor) for (let i = 0; i < count; i++) size += templateFor(ns[i]).size
        else size += argumentSize(value(count, key))
      }
      return size
    },
    /**
     * @param {ArrayLike<number>} ns
     * @param {number} count of them
     * @param {Key} key
     * @param {Buffer} out
     * @param {number} begin
     * @param {TickValues} values
     * @param {(hole: Hole, at: number) => void} [note]
     * @returns {number} where the next begins
     */
    put(ns, count, key, out, begin, values, note) {
      let at = putCount(out, begin, single + repeated * count)
      at = putArgument(out, at, name, values, note)
      for (const { templateFor, value } of pieces) {
        if (templateFor)
          for (let i = 0; i < count; i++) at = putTemplate(templateFor(ns[i]), ns[i], out, at, values, note)
        else at = putArgument(out, at, value(count, key), values, note)
      }
      return at
    },
  }
}

/**
 * The argument of the item's own width, and what follows it.
 * @param {Cut} cut
 * @param {number} n
 * @param {Buffer} out
 * @param {number} begin
 * @param {TickValues} values
 * @param {(hole: Hole, at: number) => void} [note]
 */
const putCut = ({ lead, own, width, after }, n, out, begin, values, note) => {
  const whole = lead.bytes.length + width
  let at = begin + headerOf(whole)
  out[begin] = 36
  putDigits(out, at - 2, whole)
  out[at - 2] = 13
  out[at - 1] = 10
  if (lead.bytes.length > 0) {
    out.set(lead.bytes, at)
    putPlaces(lead.places, n, out, at - lead.shift, values, note)
    at += lead.bytes.length
  }
  own.put?.(n, out, at, width)
  at += width
  out[at] = 13
  out[at + 1] = 10
  return putTemplate(after, n, out, at + 2, values, note)
}

const digits = (/** @type {number} */ count) => '0'.repeat(count)
const blank = { score: digits(13), minute: digits(8), floor: digits(13), stamp: digits(13), due: digits(16) }
/** `$12\r\n` and `*3\r\n`. @param {number} n */
const headerOf = (n) => 3 + digitsOf(n)

/** @param {Variable} variable @param {number} n */
const numberOf = (variable, n) => /** @type {number} */ (variable.forItem?.(n))

/** @param {TemplatePart} part @param {number} n */
const widthOf = (part, n) => {
  const variable = isVariable(part)
  if (!variable) return part instanceof Uint8Array ? part.length : Buffer.byteLength(String(part))
  return variable.hole?.width ?? variable.width ?? digitsOf(numberOf(variable, n))
}

/** @param {TemplatePart} part @param {number} n @returns {Part} */
const asPart = (part, n) => {
  const variable = isVariable(part)
  if (!variable) return /** @type {string | number | Buffer} */ (part)
  return variable.hole ?? (variable.put ? Buffer.alloc(variable.width ?? 0) : numberOf(variable, n))
}
