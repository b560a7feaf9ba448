import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { basename, delimiter, join, resolve } from 'node:path'
import { TargetError } from '../base/errors.js'

// redis6-server is Amazon Linux's name. The check-rdb tools are the server itself under another name, and
// Debian's redis-tools and valkey-tools hold them without a service that starts at boot.
const serverNames = ['redis-server', 'valkey-server', 'redis6-server', 'redis-check-rdb', 'valkey-check-rdb']

const oldestVersion = [6, 2]

const installHint =
  'install one (Debian, Ubuntu: apt-get install redis-server; Amazon Linux: dnf install redis6 or ' +
  'dnf install valkey; macOS: brew install redis) or name it with --server-bin'

/**
 * A server program that can be started.
 * @typedef {{ file: string, argv0: string, name: string, version: string, major: number }} ServerBinary
 */

/**
 * The server program to start: the one named by --server-bin, else the first in PATH.
 * @param {string} [serverBin]
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {ServerBinary}
 */
export function findServerBinary(serverBin, env = process.env) {
  if (serverBin !== undefined) {
    const file = serverBin.includes('/') ? executable(resolve(serverBin)) : inPath(serverBin, env)
    const why = existsSync(serverBin) ? 'no program that may be run' : 'no such program'
    if (!file) throw new TargetError(`--server-bin ${serverBin}: ${why}`)
    return inspected(file, `--server-bin ${serverBin}`)
  }
  for (const name of serverNames) {
    const file = inPath(name, env)
    if (file) return inspected(file, file)
  }
  throw new TargetError(`no redis-server or valkey-server in PATH: ${installHint}`)
}

/** All server programs in PATH that can be started. @param {NodeJS.ProcessEnv} env @returns {ServerBinary[]} */
export const serverBinaries = (env) =>
  serverNames.flatMap((name) => {
    const file = inPath(name, env)
    if (!file) return []
    try {
      return [inspected(file, file)]
    } catch {
      return []
    }
  })

/** @param {string} name @param {NodeJS.ProcessEnv} env */
function inPath(name, env) {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const file = folder && executable(join(folder, name))
    if (file) return file
  }
}

/** @param {string} file */
function executable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile() ? file : undefined
  } catch {
    return undefined
  }
}

/** @param {string} file @param {string} label how the user knows it @returns {ServerBinary} */
function inspected(file, label) {
  // The program looks at its own name to decide whether it is the server or the check tool.
  const argv0 = basename(file).includes('check-rdb') ? 'redis-server' : file
  const found = /\b(\w+) server v=(\d+)\.(\d+)\.(\d+)/i.exec(versionLine(file, argv0))
  if (!found) throw new TargetError(`${label}: not a redis-server or valkey-server`)
  const [, product, major, minor, patch] = found
  const version = `${major}.${minor}.${patch}`
  if (
    Number(major) < oldestVersion[0] ||
    (Number(major) === oldestVersion[0] && Number(minor) < oldestVersion[1])
  )
    throw new TargetError(`${label}: version ${version}; ${oldestVersion.join('.')} or later is needed`)
  return { file, argv0, name: product.toLowerCase(), version, major: Number(major) }
}

/** @param {string} file @param {string} argv0 */
function versionLine(file, argv0) {
  const { stdout } = spawnSync(file, ['--version'], { argv0, encoding: 'utf8', timeout: 5000 })
  return stdout ?? ''
}
