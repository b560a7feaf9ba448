// Which of the servers of this machine can load a snapshot file.
import { existsSync } from 'node:fs'
import { findServerBinary, serverBinaries } from './embedded-binary.js'
import { otherVersions, peerPath, peers } from './peers.js'

/**
 * @import { ServerBinary } from './embedded-binary.js'
 * @typedef {{ product: 'redis' | 'valkey', format: number, version: string | null }} FileOf
 */

// Formats from here on are of one product alone.
const lastCommon = 11

/** The newest format that a server loads of its product. @param {Pick<ServerBinary, 'name' | 'version'>} server */
const formatOf = ({ name, version }) => {
  const [major, minor] = version.split('.').map(Number)
  const at = major + minor / 10
  if (name === 'valkey') return at >= 9 ? 80 : lastCommon
  return at >= 7.4 ? 12 : at >= 7.2 ? 11 : at >= 7 ? 10 : 9
}

/** @param {FileOf} file @param {Pick<ServerBinary, 'name' | 'version'>} server */
export const canLoad = ({ product, format }, server) =>
  format <= lastCommon ? formatOf(server) >= format : server.name === product && formatOf(server) >= format

/** How far a server is from the one that saved the file. @param {FileOf} file @param {ServerBinary} server */
const distance = ({ product, version }, { name, major, version: own }) => {
  const [savedMajor, savedMinor] = (version ?? '0.0').split('.').map(Number)
  const minor = Number(own.split('.')[1])
  return (name === product ? 0 : 1000) + Math.abs(major - savedMajor) * 20 + Math.abs(minor - savedMinor)
}

/** All servers of this machine: in PATH, and those that tests use. @param {NodeJS.ProcessEnv} [env] */
export const serversHere = (env = process.env) => [
  ...serverBinaries(env),
  ...[...peers, ...otherVersions].flatMap((one) => {
    const path = peerPath(one, env)
    return existsSync(path) ? [findServerBinary(path, env)] : []
  }),
]

/** The one that is most like the server that saved it; null: none loads it. @param {FileOf} file @param {readonly ServerBinary[]} servers */
export const fittingServer = (file, servers) =>
  servers
    .filter((server) => canLoad(file, server))
    .sort((a, b) => distance(file, a) - distance(file, b))[0] ?? null
