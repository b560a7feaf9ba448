// The command line that repeats a run, as a user would type it: without passwords, and without the name of the run.
import { namesOf, OPTIONS } from '../../settings.js'

const leftOut = new Set(
  OPTIONS.filter(
    ({ secret, type, name }) => (secret && type !== 'url' && type !== 'server') || name === 'run',
  ).flatMap(namesOf),
)

/** @param {string} word */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** An address without its user and password. @param {string} word */
const withoutUser = (word) => word.replace(/(rediss?:\/\/)[^/@]*@/, '$1')

/**
 * @param {string} as how it was started: `millrace write`, `node producer.js`
 * @param {readonly string[]} argv of the process
 * @param {boolean} [isFleet] for every box: the folder of this one is left out
 */
export const commandLineOf = (as, argv, isFleet = false) => {
  const words = argv.slice(as.startsWith('millrace ') ? 3 : 2)
  const isLeftOut = (/** @type {string} */ name) => leftOut.has(name) || (isFleet && name === 'out')
  const isNamed = (/** @type {string} */ text) =>
    text.startsWith('--') && isLeftOut(text.slice(2).split('=')[0])
  const kept = words.filter((word, at) => {
    const before = words[at - 1] ?? ''
    return !isNamed(word) && !(isNamed(before) && !before.includes('='))
  })
  return [as, ...kept.map(withoutUser).map(quoted)].join(' ')
}
