// `millrace profile --snapshot`: a private server on this machine loads a copy of the file, and all keys are looked at there.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { everyKey, readPage, totalOf } from '../answers/profile/every-key.js'
import { copyRdb, rdbHead } from '../answers/profile/rdb.js'
import { snapshotAnswer } from '../answers/profile/snapshot-answer.js'
import { OptionError, TargetError } from '../base/errors.js'
import { mix as hashed } from '../base/random.js'
import { withUndo } from '../base/undo.js'
import { bytes, count, percent, plainData, plainText } from '../base/units.js'
import { flameSvg } from '../report/flame.js'
import { writeFiles } from '../report/write-report.js'
import { outFolder, runName } from '../result/files.js'
import { findServerBinary, serverBinaries } from '../servers/embedded-binary.js'
import { answering, baseConfig, freePorts, inServerGroup } from '../servers/embedded-servers.js'
import { otherVersions, peerPath, peers } from '../servers/peers.js'
import { parseInfo } from '../wire/info.js'
import { inlineScript } from '../workloads/lua.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { ServerBinary } from '../servers/embedded-binary.js'
 * @import { SnapshotFound } from '../answers/profile/snapshot-answer.js'
 *
 * @typedef {{ stop: AbortSignal, say: (line: string) => void }} Running
 */

const pageKeys = 1000
const mostPatterns = 500
// Of a file that does not say it: compressed, and without tables.
const memoryOfFile = 3
const freePart = 0.8
const yearMs = 365 * 24 * 3600 * 1000
const seed = 1
const loadLimitMs = 600_000
const pictureFile = 'memory.svg'

/** The part of its keys that the memory has room for. @param {{ usedMemory: number | null, size: number, free: number }} needs */
export const partFor = ({ usedMemory, size, free }) => {
  const wanted = usedMemory ?? size * memoryOfFile
  return Math.min(1, Math.floor(((free * freePart) / wanted) * 100) / 100)
}

/** A server that has loaded the file `name` of a folder. @param {ServerBinary} binary @param {string} dir @param {string} name @param {(step: () => unknown) => void} undo */
const loadedBy = async (binary, dir, name, undo) => {
  const password = randomBytes(24).toString('base64url')
  const { group, result: redis } = await inServerGroup(binary, async (group) => {
    const [{ port }] = await freePorts(1, 'none')
    const config = [
      ...baseConfig({ port, password }),
      .../** @type {[string, string | number][]} */ ([
        ['dir', dir],
        ['dbfilename', name],
        ['databases', 256],
        ['maxmemory', 0],
      ]),
    ]
    const server = group.launch('snapshot', port, config)
    return answering(server, password, AbortSignal.timeout(loadLimitMs))
  })
  undo(() => group.close())
  undo(() => redis.disconnect())
  return redis
}

/** @param {Redis} redis @param {ServerBinary} binary */
const factsOf = async (redis, { name, version }) => {
  const info = parseInfo(String(await redis.call('INFO', 'everything')))
  const { fields } = info
  const memory = Number(fields.used_memory)
  return {
    info,
    server: {
      version: `${name} ${version}`,
      memory_bytes: memory,
      data_bytes: Math.max(0, memory - Number(fields.used_memory_startup ?? 0)),
    },
  }
}

/** All keys of all databases. @param {Redis} redis @param {readonly number[]} databases @param {AbortSignal} stop @param {Parameters<typeof readPage>[1]} onKey */
const lookAtAll = async (redis, databases, stop, onKey) => {
  const script = inlineScript('keys')
  for (const database of databases) {
    await redis.select(database)
    const ask = (/** @type {string} */ cursor) =>
      /** @type {Promise<[Buffer, Buffer]>} */ (redis.callBuffer('EVAL', script, 0, cursor, pageKeys))
    let asked = ask('0')
    for (;;) {
      const [next, page] = await asked
      const cursor = String(next)
      const isLast = cursor === '0' || stop.aborted
      // The server looks at the next page while this one is read.
      if (!isLast) asked = ask(cursor)
      readPage(page, onKey)
      if (isLast) break
    }
  }
}

/** What the copy takes in the newest server; null: it is not known, with the reason. @param {ServerBinary[]} servers @param {Parameters<typeof fittingServer>[0]} head @param {string} dir */
const inValkey9 = async (servers, head, dir) => {
  const newest = servers.find(({ name, major }) => name === 'valkey' && major >= 9)
  const why = !newest
    ? 'no Valkey 9 is on this machine: put valkey-server into PATH'
    : fittingServer(head, [newest])
      ? null
      : `Valkey does not load format ${head.format} of Redis`
  if (!newest || why !== null)
    return { newer: null, why: `what it would take on Valkey 9 is not known: ${why}` }
  return withUndo(async (undo) => {
    const redis = await loadedBy(newest, dir, 'copy.rdb', undo)
    const { server } = await factsOf(redis, newest)
    return { newer: { ...server, version: newest.version }, why: null }
  })
}

/** @param {string} path @param {{ stop: AbortSignal, say: (line: string) => void, free: number }} needs @param {(step: () => unknown) => void} undo */
const copied = (path, { stop, say, free }, undo) => {
  const head = rdbHead(path)
  const { size } = statSync(path)
  const part = partFor({ usedMemory: head.usedMemory, size, free })
  if (part <= 0)
    throw new TargetError(
      `--snapshot: ${bytes(free)} of memory are free, too little for any part of the file`,
    )
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize < size * part)
    throw new OptionError(
      `TMPDIR ${tmpdir()}: ${bytes(bavail * bsize)} are free, and a copy of the file takes ${bytes(size * part)}`,
    )
  const dir = mkdtempSync(join(tmpdir(), 'millrace-snapshot-'))
  undo(() => rmSync(dir, { recursive: true, force: true }))
  if (part < 1)
    say(
      `${bytes(free)} of memory are free: ${percent(part * 100)} of the keys are loaded, drawn with seed ${seed}`,
    )
  const limit = part * 2 ** 32
  // Moments of expiry are moved far away, or keys would be gone that were there when it was saved.
  const shiftMs = Date.now() + yearMs - (head.savedMs ?? Date.now())
  const keeps =
    part === 1
      ? () => true
      : (/** @type {unknown} */ _, /** @type {number} */ n) => hashed(hashed(n) ^ seed) < limit
  return { dir, part, size, shiftMs, ...copyRdb({ path, to: join(dir, 'copy.rdb'), shiftMs, keeps, stop }) }
}

/**
 * @param {string} path
 * @param {{ isAnonymous: boolean, running: Running, free?: number, servers?: ServerBinary[] }} needs free: bytes of memory
 * @returns {Promise<SnapshotFound>}
 */
export const snapshotOf = (path, { isAnonymous, running, free = freemem(), servers = serversHere() }) =>
  withUndo(async (undo) => {
    const { stop, say } = running
    const startedMs = Date.now()
    const head = rdbHead(path)
    const binary = fittingServer(head, servers)
    if (!binary)
      throw new TargetError(
        `--snapshot ${plainText(path)}: no server of this machine loads format ${head.format} of ${head.product}${head.version ? ` (${head.version})` : ''}; put a newer one into PATH`,
        { code: 'UNSUPPORTED' },
      )
    const copy = copied(path, { stop, say, free }, undo)
    say(`${count(copy.kept)} of ${count(copy.keys)} keys: ${binary.name} ${binary.version} loads them`)
    const found = await withUndo(async (step) => {
      const redis = await loadedBy(binary, copy.dir, 'copy.rdb', step)
      const { info, server } = await factsOf(redis, binary)
      const keys = everyKey({ part: copy.part, seed, isAnonymous })
      let [expiring, seen, memory, squares] = [0, 0, 0, 0]
      const databases = Object.keys(info.databases).map((name) => Number(name.slice(2)))
      const savedMs = copy.savedMs ?? startedMs
      await lookAtAll(redis, databases, stop, (name, key) => {
        seen++
        memory += key.memory
        squares += key.memory * key.memory
        if (key.leftMs >= 0) {
          expiring++
          key.leftMs = Math.max(0, key.leftMs + Date.now() - copy.shiftMs - savedMs)
        }
        keys.add(name, key)
      })
      return { server, patterns: keys.patterns(), largest: keys.largest(), expiring, seen, memory, squares }
    })
    const { newer, why } = stop.aborted
      ? { newer: null, why: 'it was ended before all keys were seen' }
      : await inValkey9(servers, head, copy.dir)
    const { part } = copy
    return {
      schema: 1,
      kind: 'snapshot',
      started: new Date(startedMs).toISOString(),
      duration_s: (Date.now() - startedMs) / 1000,
      file: {
        ...{
          name: basename(path),
          product: head.product,
          format: head.format,
          bytes: copy.size,
          keys: copy.keys,
        },
        ...{
          version: copy.version,
          saved: copy.savedMs === null ? null : new Date(copy.savedMs).toISOString(),
        },
        used_memory: copy.usedMemory,
      },
      ...{ part, seed, anonymous: isAnonymous, server: found.server, newer },
      keys: part === 1 ? found.seen : copy.keys,
      memory_bytes: totalOf(part)(found.memory, found.squares),
      expiring_keys: found.expiring / part,
      patterns: found.patterns.slice(0, mostPatterns),
      patterns_left_out: Math.max(0, found.patterns.length - mostPatterns),
      largest: found.largest,
      picture: pictureFile,
      warnings: [
        ...(why === null ? [] : [why]),
        ...(found.seen < copy.kept
          ? [
              `${count(copy.kept - found.seen)} keys of the file were not seen: the server dropped or could not show them`,
            ]
          : []),
      ],
    }
  })

/** @param {{ snapshotFile: string, anonymous: boolean, out: string, json: boolean }} settings @param {Running} running */
export const profileSnapshot = async ({ snapshotFile, anonymous, out, json }, running) => {
  const startedMs = Date.now()
  await outFolder(out)
  const found = await snapshotOf(snapshotFile, { isAnonymous: anonymous, running })
  const folder = join(out, runName(startedMs, 'snapshot'))
  await outFolder(folder)
  const picture = flameSvg(
    found.patterns.map(({ pieces, memory_bytes: { value } }) => ({ pieces, weight: value })),
    `Memory of ${bytes(found.memory_bytes.value)} by pattern: ${plainText(found.file.name)}`,
  )
  await writeFiles(folder, { ...(await snapshotAnswer.files(found)), [pictureFile]: picture })
  process.stdout.write(
    json
      ? `${JSON.stringify(plainData(found), null, 2)}\n`
      : snapshotAnswer.text(found, { columns: process.stdout.columns, page: join(folder, 'snapshot.html') }),
  )
}

// Which of the servers of this machine can load a snapshot file.

/** @typedef {{ product: 'redis' | 'valkey', format: number, version: string | null }} FileOf */

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
