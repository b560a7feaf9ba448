// A file that one living process owns, named by pid and start time, so that a crash leaves no lock: a file whose owner has
// ended does not count.
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorOf } from './errors.js'

/** @typedef {{ ownerPid: number, ownerStarted: string, ownerHost: string }} Owner */

/**
 * When a process started, in the words of the system; with the pid it names one process. Undefined: none such.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function processStart(pid) {
  try {
    if (existsSync('/proc/self/stat')) {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // Field 22, counted after the name in brackets, which may contain spaces. A zombie owns nothing.
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

/** A process on another host counts as alive, as nothing is known of it. @param {any} owner */
const isAlive = (owner) => {
  const { ownerPid, ownerStarted, ownerHost = hostname() } = owner ?? {}
  if (ownerHost !== hostname()) return typeof ownerHost === 'string'
  return ownerStarted !== undefined && processStart(ownerPid) === ownerStarted
}

/**
 * What the file holds, when its owner is alive; a stale one is removed.
 * @param {string} file
 * @returns {any} null: it has no owner
 */
export const ownedContent = (file) => {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return null
  }
  const content = jsonIn(text)
  if (isAlive(content)) return content
  removeStale(file, text)
  return null
}

/** @param {string} text */
const jsonIn = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Makes the file this process's own; in a single step, so that of several one succeeds.
 * @param {string} file
 * @param {object} [content] that it holds besides
 * @returns {boolean} false: another process that is alive owns it
 */
export const takeOwnership = (file, content = {}) => {
  const ownerStarted = processStart(process.pid)
  if (ownerStarted === undefined) return false
  /** @type {Owner} */
  const owner = { ownerPid: process.pid, ownerStarted, ownerHost: hostname() }
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, JSON.stringify({ ...content, ...owner }), { mode: 0o600 })
    ownedContent(file) // removes a stale one
    linkSync(draft, file)
    return true
  } catch (error) {
    if (errorOf(error).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Removes only the file that was read: another process may have put its own there since.
 * @param {string} file
 * @param {string} text
 */
const removeStale = (file, text) => {
  const aside = `${file}.stale.${process.pid}`
  try {
    renameSync(file, aside)
    if (readFileSync(aside, 'utf8') !== text) linkSync(aside, file)
  } catch {
    // Another process was first.
  }
  rmSync(aside, { force: true })
}

/** The owner in words. @param {string} file */
export const ownerWords = (file) => {
  const { ownerPid, ownerHost } = ownedContent(file) ?? {}
  if (ownerHost === undefined || ownerHost === hostname()) return `process ${ownerPid}`
  return `process ${ownerPid} on ${ownerHost} (if it has ended, remove ${file})`
}
