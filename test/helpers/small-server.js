// A server that speaks RESP and knows three commands.
import { bulk, startHostileServer } from './hostile-server.js'
/** @import { Scope } from './servers.js' */

export const startSmallServer = async (/** @type {Scope} */ t) => {
  const values = /** @type {Map<string, string>} */ (new Map())
  const calls = /** @type {Record<string, number>} */ ({})
  const port = await startHostileServer(t, ([name, key, value]) => {
    calls[name] = (calls[name] ?? 0) + 1
    if (name === 'PING') return '+PONG\r\n'
    if (name === 'GET') return values.has(key) ? bulk(String(values.get(key))) : '$-1\r\n'
    if (name !== 'SET') return `-ERR unknown command '${name}'\r\n`
    values.set(key, value)
    return '+OK\r\n'
  })
  return { host: '127.0.0.1', port, values, calls }
}
