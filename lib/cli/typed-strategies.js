// Data models as words of a command line: `write queue-list` is `write --strategy queue-list`, `write feed.yaml` is
// `write --model feed.yaml`, and `choose list stream` has both.
import { didYouMean } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { strategyNames } from '../workloads/index.js'
import { isModelFile } from '../workloads/own/load.js'

/** @import { Typed } from '../options/command-line.js' */

/** The line with its words as an option. @param {Typed} line @param {string} name @returns {Typed} */
const placed = (line, name) => ({
  ...line,
  words: [],
  behind: [],
  options: new Map([...line.options, [name, line.words.join(',')]]),
})

/**
 * The line with its words as --strategy. What is no data model may be a password, and is not shown.
 * @param {Typed} line
 * @param {{ areSeveral?: boolean, areFiles?: boolean, hasModel?: boolean, likeOther?: readonly string[] }} taken areFiles: a model of
 *   one's own is a word, too; hasModel: it is the option's; likeOther: names of other programs, refused where they are read
 * @returns {Typed}
 */
export const withStrategies = (
  line,
  { areSeveral = false, areFiles = false, hasModel = false, likeOther = [] },
) => {
  const { words, options } = line
  if (words.length === 0 || options.has('strategy')) return line
  const names = strategyNames()
  const isModel = (/** @type {string} */ word) =>
    names.includes(word) || likeOther.includes(word) || ((areFiles || hasModel) && isModelFile(word))
  if (!words.every(isModel)) {
    const meant = words.length === 1 && !isModelFile(words[0]) ? didYouMean(words[0], names) : ''
    if (meant === '') return line
    throw new OptionError(`unexpected word on the command line (not shown: it may be a password)${meant}`)
  }
  if (words.length > 1 && !areSeveral)
    throw new OptionError(
      `one data model is played at a time; to play them in turn: millrace compare ${words.join(' ')}`,
    )
  const isOwn = hasModel && isModelFile(words[0])
  if (isOwn && options.has('model')) return line
  return placed(line, isOwn ? 'model' : 'strategy')
}
