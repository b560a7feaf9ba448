import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

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

/** @typedef {Embedded & { ownerPid: number, ownerStarted: string }} State */

/**
 * The user's private folder of state files.
 * @param {NodeJS.ProcessEnv} [env]
 */
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
  const ownerStarted = processStart(process.pid)
  if (ownerStarted === undefined) return undefined
  const file = stateFile(folder, embedded.cluster)
  const draft = `${file}.${process.pid}`
  /** @type {State} */
  const state = { ...embedded, ownerPid: process.pid, ownerStarted }
  writeFileSync(draft, JSON.stringify(state), { mode: 0o600 })
  try {
    readState(folder, embedded.cluster) // removes a stale one
    linkSync(draft, file) // fails when there is one, in a single step
    return file
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return undefined
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
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
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return null
  }
  const state = stateIn(text)
  if (state && state.ownerStarted !== undefined && processStart(state.ownerPid) === state.ownerStarted) {
    const { ownerPid, ownerStarted, ...embedded } = state
    return embedded
  }
  removeStale(file, text)
  return null
}

/** @param {string} text @returns {State | null} */
function stateIn(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Only what was judged goes: another process may have put its own there since it was read.
 * @param {string} file
 * @param {string} text
 */
function removeStale(file, text) {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
    if (readFileSync(aside, 'utf8') !== text) linkSync(aside, file)
  } catch {
    // Somebody else was quicker.
  }
  rmSync(aside, { force: true })
}

/**
 * @param {string} folder
 * @param {boolean} cluster
 */
function stateFile(folder, cluster) {
  return join(folder, `${cluster ? 'cluster' : 'single'}.json`)
}

/**
 * A folder (no link) of this user that nobody else can look into.
 * @param {string} folder
 */
function isPrivate(folder) {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return false
  return stats.uid === userInfo().uid && (stats.mode & 0o077) === 0
}

/**
 * When a process started, in the words of the system; with the pid it names one process. Undefined: none such.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function processStart(pid) {
  try {
    if (existsSync('/proc/self/stat')) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // Field 22, counted behind the name in brackets, which may hold spaces. A zombie owns nothing.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' ? undefined : fields[19]
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    return undefined
  }
}
