// What the scripts that measure for long have in common: options that are numbers, and a file with a line a measurement.
import { existsSync, readFileSync } from 'node:fs'
import { OptionError } from '../../lib/base/errors.js'

/** @param {Readonly<Record<string, string>>} texts by the names of their options */
export const refuseNumbers = (texts) => {
  for (const [name, text] of Object.entries(texts))
    if (!(Number(text) > 0)) throw new OptionError(`--${name} must be a number above 0, not '${text}'`)
}

/** Every word of a list, or of all that are known. @param {string | undefined} list @param {readonly string[]} known @param {string} what */
export const wordsOf = (list, known, what) => {
  const words = list?.split(',') ?? []
  const unknown = words.find((word) => !known.includes(word))
  if (unknown !== undefined) throw new OptionError(`--only: no ${what} '${unknown}'`)
  return words
}

/** The measurements so far. @param {string} file @returns {any[]} */
export const linesIn = (file) =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
