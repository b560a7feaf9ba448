// An application that knows nothing of Millrace, at work on a server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { at } from './programs.js'

/** @import { Scope, TestServer } from './servers.js' */

const program = fileURLToPath(new URL('application.js', import.meta.url))

/** Resolves when it serves. @param {Scope} t @param {string} name @param {TestServer} server @param {number} rate */
export const startApplication = async (t, name, server, rate) => {
  const child = spawn(process.execPath, [program, name, String(server.port), String(rate)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...at(server) },
  })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  return child
}
