// The other servers that tests use, as `npm run setup:peers` fetches them.
import { existsSync } from 'node:fs'
import { libraries } from '../../lib/base/libraries.js'
import { wordsForMissing } from '../../lib/base/optional-packages.js'
import { modules, peerPath, peers, standIns } from '../../lib/servers/peers.js'
import { libraryNamed } from '../../lib/transport/library.js'

/** @typedef {{ skip: (message: string) => void }} Skipping */

/** Services set it to true or to 1. @param {NodeJS.ProcessEnv} env */
const isCi = ({ CI }) => CI !== undefined && !['', '0', 'false'].includes(CI)

/** @param {Skipping} t @param {string} message @param {NodeJS.ProcessEnv} env */
const withoutIt = (t, message, env) => {
  if (isCi(env)) throw new Error(message)
  t.skip(message)
}

/**
 * The server's program. When it is not there the test is skipped, and undefined is returned; in CI that is an error.
 * @param {Skipping} t
 * @param {string} name as `node scripts/setup-peers.js --list` prints it
 */
export const peer = (t, name) => {
  const found = [...peers, ...modules, ...standIns].find((each) => each.name === name)
  if (!found) throw new Error(`no peer is called ${name}`)
  const path = peerPath(found, process.env)
  if (existsSync(path)) return path
  withoutIt(t, `${name} is not there: npm run setup:peers fetches it`, process.env)
}

/** The drivers on client libraries. */
export const libraryNames = /** @type {(keyof typeof libraries)[]} */ (Object.keys(libraries))

/**
 * Whether the library of a driver is installed, with its part for this platform. When it is not, the test is skipped; in
 * CI that is an error.
 * @param {Skipping} t
 * @param {string} driver
 * @param {{ env?: NodeJS.ProcessEnv, installed?: typeof libraries }} [where]
 */
export const hasDriver = async (t, driver, { env = process.env, installed = libraries } = {}) => {
  if (driver === 'socket') return true
  const { package: name } = installed[/** @type {keyof typeof libraries} */ (driver)]
  const missing = wordsForMissing([name], `--driver ${driver}`)
  const fault = () =>
    libraryNamed(driver).then(
      () => null,
      (error) => error.message,
    )
  const words = missing || (await fault())
  if (words) withoutIt(t, words, env)
  return !words
}
