// The command line that repeats a run, as somebody would type it: without passwords, and without the name of the run.
import { basename } from 'node:path'
import { OPTIONS } from '../../settings.js'

const secretNames = new Set(
  OPTIONS.filter(({ secret, type }) => secret && type !== 'url').map(({ name }) => name),
)
const leftOut = new Set([...secretNames, 'run'])
const commands = { producer: 'write', consumer: 'read' }

/** @param {string} word */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** An address without its user and password. @param {string} word */
const withoutUser = (word) => word.replace(/(rediss?:\/\/)[^/@]*@/, '$1')

/**
 * @param {'producer' | 'consumer'} program
 * @param {readonly string[]} argv of the process
 */
export const commandLineOf = (program, [, script = '', ...words]) => {
  const typed = basename(script) === `${program}.js` ? `node ${program}.js` : `millrace ${commands[program]}`
  const kept = words.filter((word, at) => {
    const isNamed = (/** @type {string} */ text) =>
      text.startsWith('--') && leftOut.has(text.slice(2).split('=')[0])
    const before = words[at - 1] ?? ''
    return !isNamed(word) && !(isNamed(before) && !before.includes('='))
  })
  return [typed, ...kept.map(withoutUser).map(quoted)].join(' ')
}
