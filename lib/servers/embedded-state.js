import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { TargetError } from '../base/errors.js'
import { faultIn } from '../base/json-schema.js'
import { ownedContent, takeOwnership } from '../base/lock.js'

const port = { type: 'integer', minimum: 1, maximum: 65_535 }
const text = { type: 'string' }

/** A state file. */
export const STATE = {
  type: 'object',
  required: ['address', 'endpoints', 'access', 'cluster', 'nodes', 'dir'],
  properties: {
    address: { type: 'string', pattern: '^.+:\\d+$' },
    endpoints: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['host', 'port'], properties: { host: text, port } },
    },
    access: { type: 'object', required: ['password'], properties: { password: text } },
    cluster: { type: 'boolean' },
    nodes: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['host', 'port', 'pid', 'role', 'shard'],
        properties: {
          host: text,
          port,
          pid: { type: 'integer' },
          shard: { type: 'integer' },
          role: { enum: ['master', 'replica'] },
        },
      },
    },
    dir: text,
  },
}

/**
 * Embedded servers that are running.
 * @typedef {object} Embedded
 * @property {string} address of the first master
 * @property {{ host: string, port: number }[]} endpoints where to ask for the topology
 * @property {{ password: string }} access
 * @property {boolean} cluster
 * @property {{ host: string, port: number, pid: number, role: 'master' | 'replica', shard: number }[]} nodes
 * @property {string} dir
 */

/** The user's private folder of state files. @param {NodeJS.ProcessEnv} [env] */
export function stateFolder(env = process.env) {
  const runtimeDir = env.XDG_RUNTIME_DIR
  if (runtimeDir && existsSync(runtimeDir)) return join(runtimeDir, 'millrace')
  return join(tmpdir(), `millrace-${userInfo().uid}`)
}

/**
 * Lets other programs of this user attach. The file's name, or undefined when servers of that kind with a
 * live owner are published already.
 * @param {string} folder
 * @param {Embedded} embedded
 * @returns {string | undefined}
 */
export function publish(folder, embedded) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!isPrivate(folder)) throw new Error(`${folder} is not a private folder of this user`)
  const file = stateFile(folder, embedded.cluster)
  return takeOwnership(file, embedded) ? file : undefined
}

/**
 * The published servers of that kind, if their owner is alive; a stale file is removed.
 * @param {string} folder
 * @param {boolean} cluster
 * @returns {Embedded | null}
 */
export function readState(folder, cluster) {
  if (!isPrivate(folder)) return null
  const file = stateFile(folder, cluster)
  const found = ownedContent(file)
  if (found === null) return null
  const fault = faultIn(found, STATE)
  if (fault)
    throw new TargetError(`${file} is not what a writer with local servers leaves: ${fault}; remove it`)
  const { ownerPid, ownerStarted, ownerHost, ...embedded } = found
  return embedded
}

/** @param {string} folder @param {boolean} cluster */
function stateFile(folder, cluster) {
  return join(folder, `${cluster ? 'cluster' : 'single'}.json`)
}

/** A folder (no link) of this user that no other user can read. @param {string} folder */
function isPrivate(folder) {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return false
  return stats.uid === userInfo().uid && (stats.mode & 0o077) === 0
}
