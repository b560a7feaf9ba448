// `millrace demo` and `npm start`: fifteen seconds of writing to a local cluster, at a rate that suits the machine.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { programsEnv, startChild } from '../../base/child.js'
import { ExitCode } from '../../base/errors.js'

/** @import { Command } from '../commands.js' */

// Writing 25,000 items/s costs a local 3 + 3 cluster and the writer about an eighth of two cores.
const itemsPerCore = 25_000
const rate = Math.min(200_000, itemsPerCore * availableParallelism())
const args = `--cluster --rate ${rate} --duration 15s --warm-up 2s`.split(' ')

const file = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
// npm and npx start it in a clone, where the shell does not find the command.
const inClone = process.env.npm_lifecycle_event !== undefined
/** What a user would type again. */
const [program, ...first] = inClone ? [file('../../../producer.js')] : [file('../millrace.js'), 'write']

/** @returns {Promise<number>} */
const demo = () =>
  new Promise((resolve) => {
    process.stderr.write(`millrace write ${args.join(' ')}\n`)
    // Settings for real servers must not send a demonstration there.
    const child = startChild(program, [...first, ...args], {
      env: programsEnv(process.env),
      stdio: ['inherit', 'inherit', 'inherit'],
    })
    // Ctrl-C reaches the child through the terminal; it settles and writes its result.
    process.on('SIGINT', () => {})
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    child.on('close', (code) => {
      const as = inClone ? 'npx millrace' : 'millrace'
      if (code === ExitCode.done || code === ExitCode.invalid)
        process.stderr.write(`\nNext: ${as} compare sorted-set list --cluster --rate 50k\n`)
      resolve(code ?? ExitCode.fault)
    })
  })

/** @type {Command} */
export const command = {
  about: {
    does: 'Writes to a local cluster for fifteen seconds, at a rate that suits this machine, and reports what that cost.',
    examples: [],
  },
  options: [],
  isPrivate: true,
  work: demo,
}
