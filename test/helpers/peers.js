// The other servers that tests use, as `npm run setup:peers` fetches them.
import { existsSync } from 'node:fs'
import { modules, peerPath, peers, standIns } from '../../lib/servers/peers.js'

/**
 * The server's program. When it is not there the test is skipped, and undefined is returned; in CI that is an error.
 * @param {{ skip: (message: string) => void }} t
 * @param {string} name as `node scripts/setup-peers.js --list` prints it
 */
export const peer = (t, name) => {
  const found = [...peers, ...modules, ...standIns].find((each) => each.name === name)
  if (!found) throw new Error(`no peer is called ${name}`)
  const path = peerPath(found, process.env)
  if (existsSync(path)) return path
  const message = `${name} is not there: npm run setup:peers fetches it`
  if (process.env.CI === 'true') throw new Error(message)
  t.skip(message)
}
