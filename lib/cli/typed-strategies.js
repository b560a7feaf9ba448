// Data models as words of a command line: `write queue-list` is `write --strategy queue-list`, `write feed.yaml` is
// `write --model feed.yaml`, and `choose list stream` has both.
import { didYouMean } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { strategyNames } from '../workloads/index.js'
import { isModelFile } from '../workloads/own/load.js'

/** @import { Typed } from '../options/command-line.js' */

/**
 * The line with its words as --strategy. What is no data model may be a password, and is not shown.
 * @param {Typed} line
 * @param {{ areSeveral?: boolean, filesAre?: 'strategy' | 'model', likeOther?: readonly string[] }} taken filesAre: the option of a model of
 *   one's own, which is a word, too; likeOther: names of other programs, refused where they are read
 * @returns {Typed}
 */
export const withStrategies = (line, { areSeveral = false, filesAre, likeOther = [] }) => {
  const { words, options } = line
  if (words.length === 0 || options.has('strategy')) return line
  const names = strategyNames()
  const isModel = (/** @type {string} */ word) =>
    names.includes(word) || likeOther.includes(word) || (filesAre !== undefined && isModelFile(word))
  if (!words.every(isModel)) {
    const meant = words.length === 1 && !isModelFile(words[0]) ? didYouMean(words[0], names) : ''
    if (meant === '') return line
    throw new OptionError(`unexpected word on the command line (not shown: it may be a password)${meant}`)
  }
  if (words.length > 1 && !areSeveral)
    throw new OptionError(
      `one data model is played at a time; to play them in turn: millrace compare ${words.join(' ')}`,
    )
  const name = (isModelFile(words[0]) && filesAre) || 'strategy'
  return options.has(name)
    ? line
    : { ...line, words: [], behind: [], options: new Map([...options, [name, words.join(',')]]) }
}
