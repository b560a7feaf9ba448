// Sizes of values: fixed, even between two, lognormal by two percentiles, or a histogram. The size of an item is a pure function of its
// number and the seed, through a table of quantiles, so that writers, readers and checks agree on it.
import { readFileSync } from 'node:fs'
import { normalDensity, normalQuantile, normalTail } from '../base/distributions.js'
import { errorOf, OptionError } from '../base/errors.js'
import { mix } from '../base/random.js'
import { byteUnits, scaled } from '../base/scaled.js'
import { certain, entryOf } from '../base/typed.js'
import { count, plainText } from '../base/units.js'

/**
 * @typedef {object} Sizes
 * @property {string} text as --value-size has it; a histogram whole, without its file
 * @property {Uint32Array} table quantiles in ascending order, each as likely
 * @property {number} mean of the table, rounded to whole bytes
 * @property {number} least
 * @property {number} most
 *
 * @typedef {{ valueBytes: number, valueSizes?: string | null, seed: number }} SizeFields valueSizes: as Sizes.text
 */

const anyKind = /^(lognormal|histogram):(.+)$/

const quantiles = 65_536
const largest = 512 * 2 ** 20
const mostBins = 1000
const salt = 0x51ed270b

/** Standard normal values at (i + 0.5) / 65,536. */
const normalTable = () => {
  const half = quantiles / 2
  const table = new Float64Array(quantiles)
  let z = normalQuantile(0.5 / quantiles)
  for (let i = 0; i < half; i++) {
    const tail = (i + 0.5) / quantiles
    // Newton from the one before: two steps are right to 12 digits.
    for (let step = 0; step < 3; step++) z += (normalTail(z) - tail) / normalDensity(z)
    table[quantiles - 1 - i] = z
    table[i] = -z
    z -= 1 / quantiles / normalDensity(z)
  }
  return table
}

/** A size of at least a byte. @param {string | undefined} text */
const bytesIn = (text) => {
  const bytes = scaled(text ?? '', byteUnits)
  return bytes !== undefined && bytes >= 1 && bytes <= largest ? bytes : undefined
}

/** Every size between two, each as likely. @param {string} text @returns {Uint32Array | undefined} */
const evenTable = (text) => {
  const [least, most] = text.split('-').map(bytesIn)
  if (least === undefined || most === undefined || least >= most) return
  const sizes = most - least + 1
  return Uint32Array.from(
    { length: quantiles },
    (_, i) => least + Math.floor(((i + 0.5) / quantiles) * sizes),
  )
}

/** `p50=200B,p99=4kB`, and `min=`, `max=` that cut it. @param {string} text @returns {Uint32Array | undefined} */
const lognormalTable = (text) => {
  let [least, most] = [1, largest]
  /** @type {[z: number, log: number][]} */
  const points = []
  for (const part of text.split(',')) {
    const [name, value] = part.split('=').map((word) => word.trim())
    const bytes = bytesIn(value)
    const percent = Number(/^p(\d{1,2}(?:\.\d{1,3})?)$/.exec(name)?.[1])
    if (bytes === undefined) return
    if (name === 'min') least = bytes
    else if (name === 'max') most = bytes
    else if (percent > 0) points.push([normalQuantile(1 - percent / 100), Math.log(bytes)])
    else return
  }
  const [[z1, log1], [z2, log2]] =
    points.length === 2
      ? points.sort(([a], [b]) => a - b)
      : [
          [0, 0],
          [0, 0],
        ]
  if (z1 === z2 || log2 < log1 || least > most) return
  const sigma = (log2 - log1) / (z2 - z1)
  const mu = log1 - sigma * z1
  return Uint32Array.from(normalTable(), (z) =>
    Math.max(least, Math.min(most, Math.round(Math.exp(mu + sigma * z)))),
  )
}

/** `100B=50,1kB=3`: sizes, and how often each. @param {string} text @returns {Uint32Array | undefined} */
const histogramTable = (text) => {
  const bins = text.split(',').map((part) => {
    const [, size, weight] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(part) ?? []
    return { bytes: bytesIn(size), weight: Number(weight) }
  })
  const whole = bins.reduce((sum, { weight }) => sum + weight, 0)
  if (bins.length > mostBins || bins.some(({ bytes }) => bytes === undefined) || !(whole > 0)) return
  bins.sort((a, b) => Number(a.bytes) - Number(b.bytes))
  const rare = bins.find(({ weight }) => weight * quantiles < whole)
  if (rare)
    throw new OptionError(
      `--value-size: ${rare.bytes} bytes are less than one in ${count(quantiles)} of the histogram, and would never be drawn; remove them from it`,
    )
  const table = new Uint32Array(quantiles)
  let filled = 0
  let sum = 0
  for (const { bytes, weight } of bins) {
    sum += weight
    const to = Math.round((sum / whole) * quantiles)
    table.fill(Number(bytes), filled, to)
    filled = to
  }
  return table
}

/** A line a size: bytes and how many values have it, with a blank, a comma or a tab between. @param {string} path */
const histogramIn = (path) => {
  const where = `--value-size: ${plainText(path)}`
  /** @type {string} */
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new OptionError(`${where} cannot be read (${errorOf(cause).code})`, {
      cause,
    })
  }
  const bins = text.split('\n').flatMap((line, i) => {
    const bare = line.replace(/#.*/, '').trim()
    if (bare === '') return []
    const [size, weight, ...more] = bare.split(/[\s,;]+/)
    if (bytesIn(size) === undefined || !/^\d+(\.\d+)?$/.test(weight ?? '') || more.length > 0)
      throw new OptionError(`${where}:${i + 1}: must be a size and how many values have it, as in '128 5000'`)
    return [`${bytesIn(size)}=${weight}`]
  })
  if (bins.length === 0) throw new OptionError(`${where} has no sizes`)
  if (bins.length > mostBins)
    throw new OptionError(`${where} has ${bins.length} sizes, more than ${mostBins}`)
  return bins.join(',')
}

/** @type {Map<string, Sizes | undefined>} */
const sizesByName = new Map()

const tables = { lognormal: lognormalTable, histogram: histogramTable }

/** @param {string} name @returns {Sizes | undefined} */
const made = (name) => {
  const [, kind, rest] = anyKind.exec(name) ?? []
  const table = kind ? certain(entryOf(tables, kind))(rest) : evenTable(name)
  if (!table) return
  const mean = table.reduce((sum, bytes) => sum + bytes, 0) / quantiles
  return {
    text: name,
    table,
    mean: Math.round(mean),
    least: table[0],
    most: table[quantiles - 1],
  }
}

/**
 * `200B-4kB` (or with two dots), `lognormal:p50=200B,p99=4kB`, `histogram:100B=50,1kB=3` or `histogram:FILE`; undefined where it is none of these.
 * @param {string} text
 * @param {boolean} [mayRead] a file: those of a target or a result contain no file
 * @returns {Sizes | undefined}
 */
export const sizesIn = (text, mayRead = false) => {
  const [, kind, rest] = anyKind.exec(text) ?? []
  const ends = /^([\w.]*\w)(?:-|\.\.)(\w[\w.]*)$/.exec(text)
  if (kind === undefined && !ends) return
  const whole = kind === 'histogram' && mayRead && !rest.includes('=') ? histogramIn(rest) : rest
  const name = ends ? `${ends[1]}-${ends[2]}` : `${kind}:${whole}`
  if (!sizesByName.has(name)) sizesByName.set(name, made(name))
  return sizesByName.get(name)
}

/** @param {SizeFields} fields @returns {Sizes | null} null: all values have one size */
const spreadOf = ({ valueSizes }) => {
  if (!valueSizes) return null
  const sizes = sizesIn(valueSizes)
  if (!sizes) throw new TypeError(`no sizes: ${valueSizes}`)
  return sizes
}

/** A long histogram by its number of sizes. @param {string} text */
export const shownSizes = (text) => {
  const bins = text.split(',').length
  return text.startsWith('histogram:') && bins > 4
    ? `histogram of ${bins} sizes`
    : plainText(text).slice(0, 80)
}

/** The smallest and the largest value. @param {SizeFields} fields */
export const sizeLimits = (fields) => {
  const { least, most } = spreadOf(fields) ?? { least: fields.valueBytes, most: fields.valueBytes }
  return { least, most }
}

/** The size of item n's value. @param {SizeFields} fields @returns {(n: number) => number} */
export const sizeOf = (fields) => {
  const sizes = spreadOf(fields)
  if (!sizes) return () => fields.valueBytes
  const { table } = sizes
  const own = mix(mix(fields.seed) ^ salt)
  return (n) => table[mix(mix(n) ^ own) >>> 16]
}

/** The bytes that jemalloc allocates for so many: four sizes a doubling. @param {number} bytes */
export const allocated = (bytes) => {
  const step = bytes <= 128 ? 16 : 2 ** (Math.floor(Math.log2(bytes - 1)) - 2)
  return Math.ceil(bytes / step) * step
}

/** The average memory of a value on a server. @param {SizeFields} fields */
export const storedBytes = (fields) => {
  const sizes = spreadOf(fields)
  if (!sizes) return allocated(fields.valueBytes + 6)
  return sizes.table.reduce((sum, bytes) => sum + allocated(bytes + 6), 0) / quantiles
}
