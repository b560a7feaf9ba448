// Numbers with a unit, as a user types them.

export const countUnits = new Map([
  ['', 1],
  ['k', 1e3],
  ['M', 1e6],
])

export const byteUnits = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
])

/** Bytes as they are typed, in the largest unit that has them whole. @param {number} n */
export const typedBytes = (n) => {
  /** @type {[string, number][]} */
  const units = [
    ['GiB', 2 ** 30],
    ['GB', 1e9],
    ['MiB', 2 ** 20],
    ['MB', 1e6],
    ['KiB', 2 ** 10],
    ['kB', 1e3],
  ]
  const [unit, scale] = units.find(([, size]) => n > 0 && n % size === 0) ?? ['B', 1]
  return `${n / scale}${unit}`
}

export const timeUnits = new Map([
  ['ms', 1],
  ['s', 1e3],
  ['m', 60e3],
  ['h', 3600e3],
])

/**
 * A number and its unit as a whole number, else undefined.
 * @param {string} text
 * @param {ReadonlyMap<string, number>} units
 */
export const scaled = (text, units) => {
  const [, digits, unit] = /^(\d+(?:_\d+)*(?:\.\d+)?) ?([a-z]*)$/i.exec(text) ?? []
  const scale = units.get(unit) ?? units.get(unit?.toLowerCase())
  if (scale === undefined) return
  const value = Number((Number(digits.replaceAll('_', '')) * scale).toPrecision(15))
  return Number.isSafeInteger(value) ? value : undefined
}
