// redis-benchmark on a server of its own: what the same machine does with plain commands in the same minute.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { controlConnections } from '../../lib/servers/control.js'
import { startEmbedded } from '../../lib/servers/embedded.js'

/** @import { Endpoint } from '../../lib/servers/address.js' */

const run = promisify(execFile)

/**
 * Work on a server that asks for no password while it runs: one would be in the process list.
 * @template T
 * @param {(endpoint: Endpoint) => Promise<T>} work
 */
export const onServer = async (work) => {
  const server = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
  const control = controlConnections(server.access)
  try {
    const [{ host, port }] = server.endpoints
    await control.clientOf({ host, port }).call('ACL', 'SETUSER', 'default', 'nopass')
    return await work({ host, port })
  } finally {
    control.close()
    await server.close()
  }
}

/**
 * Two connections with 500 commands in flight each.
 * @param {Endpoint} endpoint
 * @param {number} commands
 * @param {string[]} command
 */
export const commandsPerS = async ({ host, port }, commands, command) => {
  const { stdout } = await run('redis-benchmark', [
    ...[
      '-h',
      host,
      '-p',
      String(port),
      '-c',
      '2',
      '-P',
      '500',
      '-r',
      '300000',
      '-n',
      String(commands),
      '--csv',
    ],
    ...command,
  ])
  return Number(/","([\d.]+)"/.exec(stdout)?.[1])
}
