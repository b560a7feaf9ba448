// Reports that some servers have besides counters: times of commands, slow and large commands, busy slots, hot keys and
// connections. They are read at the beginning and the end, where the server has them and the user may read them. Of the
// arguments in logs, keys become patterns, and others are dropped at once.
import { isKnown, keyIndexes, moves } from '../../workloads/own/commands.js'

/**
 * @import { Info } from '../../wire/info.js'
 * @import { Asking, Master, Question } from './collect.js'
 *
 * @typedef {Record<string, [edge: number, calls: number][]>} Histograms by command: calls up to an edge in microseconds
 * @typedef {'slow' | 'large-request' | 'large-reply'} LogKind
 * @typedef {{ kind: LogKind, command: string, key: Buffer | null, value: number }} LogEntry value: microseconds, or bytes
 * @typedef {{ slot: number, keys: number, us: number | null, in: number | null, out: number | null }} Slot
 * @typedef {{ key: Buffer, us: number, bytes: number, perS: number | null }} HotKey
 * @typedef {{ grammar: 'redis' | 'valkey', seconds: number | null, us: number, bytes: number, keys: HotKey[] }} Hot
 *
 * @typedef {object} ServerReport
 * @property {Histograms | null} latency
 * @property {string | null} clients
 * @property {Slot[] | null} slots
 *
 * @typedef {object} Readings of a master
 * @property {ServerReport} begin
 * @property {ServerReport} end
 * @property {{ from: string, length: number, entries: LogEntry[] } | null} log
 * @property {Hot | null} hot
 */

// CLIENT LIST of more clients takes milliseconds, in which the server answers no other client.
const mostClients = 2000
const mostEntries = 64
const mostSlots = 50
const mostHot = 16
// Hot keys are tracked for a tenth of the time, and in a sample of commands, since tracking slows every command.
const hotPart = 0.1
const hotSample = 10
/** @type {LogKind[]} */
const logKinds = ['slow', 'large-request', 'large-reply']

/** @param {unknown} reply @returns {readonly unknown[]} */
const listOf = (reply) => {
  if (!Array.isArray(reply)) throw new TypeError('a list was expected')
  return reply
}

/** An object of a flat list of fields and values. @param {unknown} reply @returns {Record<string, unknown>} */
const fieldsOf = (reply) => {
  const flat = listOf(reply)
  return Object.fromEntries(
    Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => [String(flat[2 * i]), flat[2 * i + 1]]),
  )
}

/** @param {unknown} name */
const keyOf = (name) => (Buffer.isBuffer(name) ? name : Buffer.from(String(name)))

/** @param {unknown} reply of LATENCY HISTOGRAM @returns {Histograms} */
const histogramsOf = (reply) =>
  Object.fromEntries(
    Object.entries(fieldsOf(reply)).map(([name, said]) => [
      name.toLowerCase(),
      Object.entries(fieldsOf(fieldsOf(said).histogram_usec)).map(([edge, calls]) => [
        Number(edge),
        Number(calls),
      ]),
    ]),
  )

/** @param {unknown} reply of CLUSTER SLOT-STATS @returns {Slot[]} */
const slotsOf = (reply) =>
  listOf(reply).map((one) => {
    const [slot, said] = listOf(one)
    const fields = fieldsOf(said)
    const field = (/** @type {string} */ name) => (name in fields ? Number(fields[name]) : null)
    return {
      slot: Number(slot),
      keys: Number(fields['key-count']),
      us: field('cpu-usec'),
      in: field('network-bytes-in'),
      out: field('network-bytes-out'),
    }
  })

/** A name without the text that a log puts in place of the rest. @param {Buffer} key */
const uncut = (key) => Buffer.from(key.toString('latin1').replace(/\.\.\. \(\d+ more bytes\)$/, ''), 'latin1')

/** The name of a command and its key; other arguments are dropped. @param {LogKind} kind @param {unknown} entry @returns {LogEntry[]} */
const entryOf = (kind, entry) => {
  const [, , value, words, , client] = listOf(entry)
  const args = listOf(words)
  if (String(client ?? '').startsWith('millrace-')) return []
  const name = String(args[0]).toUpperCase()
  // An unknown command is not shown: any word of it may be private.
  if (!isKnown(name)) return [{ kind, command: 'other', key: null, value: Number(value) }]
  let at
  try {
    if (!moves(name)) [at] = keyIndexes(name, args.slice(1).map(String))
  } catch {}
  const key = at === undefined ? null : args[at + 1]
  return [
    {
      kind,
      command: name.toLowerCase(),
      key: Buffer.isBuffer(key) ? uncut(key) : null,
      value: Number(value),
    },
  ]
}

/** @param {unknown} reply of HOTKEYS GET; null: it is Redis' and nothing is tracked */
const hotGrammar = (reply) => {
  if (reply === null) return { grammar: /** @type {const} */ ('redis'), fields: null }
  const [first] = listOf(reply)
  const flat = Buffer.isBuffer(first) ? reply : first
  if (Array.isArray(flat) && String(flat[0]) === 'tracking-active')
    return { grammar: /** @type {const} */ ('redis'), fields: fieldsOf(flat) }
  return { grammar: /** @type {const} */ ('valkey'), fields: null }
}

/** In a sample of 1 in n commands, keys have an n-th of the totals beside them. @param {Record<string, unknown>} fields @returns {Hot} */
export const hotOfRedis = (fields) => {
  const ratio = Number(fields['sample-ratio']) || 1
  /** @type {Map<string, HotKey>} */
  const keys = new Map()
  const note = (/** @type {unknown} */ reply, /** @type {'us' | 'bytes'} */ what) => {
    const list = listOf(reply)
    for (let i = 0; i + 1 < list.length; i += 2) {
      const key = keyOf(list[i])
      const name = key.toString('latin1')
      const known = keys.get(name) ?? { key, us: 0, bytes: 0, perS: null }
      known[what] = Number(list[i + 1]) * ratio
      keys.set(name, known)
    }
  }
  note(fields['by-cpu-time-us'] ?? [], 'us')
  note(fields['by-net-bytes'] ?? [], 'bytes')
  return {
    grammar: 'redis',
    seconds: Number(fields['collection-duration-ms']) / 1000,
    us: Number(fields['all-commands-all-slots-us']),
    bytes: Number(fields['net-bytes-all-commands-all-slots']),
    keys: [...keys.values()],
  }
}

/** @param {unknown} reply @returns {Hot} */
const hotOfValkey = (reply) => ({
  grammar: 'valkey',
  seconds: null,
  us: 0,
  bytes: 0,
  keys: listOf(reply).map((entry) => {
    const { key, qps } = fieldsOf(entry)
    return { key: keyOf(key), us: 0, bytes: 0, perS: Number(qps) }
  }),
})

/**
 * A server has one session: ours is ended, another client's is left alone.
 * @param {Asking} asking
 * @param {{ durationMs: number, remark: (text: string) => void }} needs
 */
const hotKeys = ({ ask, may }, { durationMs, remark }) => {
  /** @type {Map<Master, { grammar: 'redis' | 'valkey', started: unknown }>} */
  const sessions = new Map()
  /** @type {Question} */
  const get = ['HOTKEYS', 'GET']
  const startedOf = (/** @type {unknown} */ reply) =>
    hotGrammar(reply).fields?.['collection-start-time-unix-ms'] ?? null
  return {
    /** @param {Master} master */
    begin: async (master) => {
      if (!may(get)) return
      const [{ error, reply }] = await ask(master, [get])
      if (error) return
      const { grammar, fields } = hotGrammar(reply)
      if (grammar === 'valkey') return void sessions.set(master, { grammar, started: null })
      if (fields) return remark('hot keys are left out: another session tracks them')
      const seconds = String(Math.max(1, Math.round((durationMs * hotPart) / 1000)))
      const start = ['HOTKEYS', 'START', 'METRICS', 2, 'CPU', 'NET', 'COUNT', mostHot, 'DURATION', seconds]
      const [began, now] = await ask(master, [[...start, 'SAMPLE', hotSample], get])
      if (!began.error && !now.error) sessions.set(master, { grammar, started: startedOf(now.reply) })
    },
    /** @param {Master} master @returns {Promise<Hot | null>} */
    end: async (master) => {
      const session = sessions.get(master)
      if (!session) return null
      const [{ error, reply }] = await ask(master, [get])
      if (error) return null
      if (session.grammar === 'valkey') return hotOfValkey(reply ?? [])
      const { fields } = hotGrammar(reply)
      if (!fields || startedOf(reply) !== session.started) {
        remark('hot keys are left out: another session replaced ours')
        return null
      }
      await ask(master, [
        ['HOTKEYS', 'STOP'],
        ['HOTKEYS', 'RESET'],
      ])
      return hotOfRedis(fields)
    },
  }
}

/** @param {Asking} asking @param {{ durationMs: number }} needs */
export const readings = (asking, { durationMs }) => {
  const { masters, ask, may } = asking
  /** @type {Set<string>} */
  const remarks = new Set()
  const hot = hotKeys(asking, { durationMs, remark: (text) => remarks.add(text) })

  /** @template T @param {Master} master @param {Question} question @param {(reply: unknown) => T} understand */
  const asked = async (master, question, understand) => {
    if (!may(question)) return null
    const [{ error, reply }] = await ask(master, [question])
    if (error || reply === null) return null
    try {
      return understand(reply)
    } catch {
      remarks.add(`the reply to ${question.slice(0, 2).join(' ')} was not understood`)
      return null
    }
  }
  /** @param {Master} master @param {Info} info @returns {Promise<ServerReport>} */
  const reportOf = async (master, { fields }) => {
    const slots = (/** @type {string} */ by) =>
      asked(master, ['CLUSTER', 'SLOT-STATS', 'ORDERBY', by, 'LIMIT', mostSlots, 'DESC'], slotsOf)
    const isCluster = fields.cluster_enabled === '1'
    return {
      latency: await asked(master, ['LATENCY', 'HISTOGRAM'], histogramsOf),
      clients:
        Number(fields.connected_clients) > mostClients
          ? null
          : await asked(master, ['CLIENT', 'LIST'], String),
      // A server without statistics of slots still counts their keys.
      slots: isCluster ? ((await slots('CPU-USEC')) ?? (await slots('KEY-COUNT'))) : null,
    }
  }
  /** @param {Master} master */
  const logOf = async (master) => {
    const entries = (/** @type {LogKind} */ kind) => (/** @type {unknown} */ reply) =>
      listOf(reply).flatMap((entry) => entryOf(kind, entry))
    const slow = await asked(master, ['COMMANDLOG', 'GET', mostEntries, 'slow'], entries('slow'))
    if (slow === null) {
      const older = await asked(master, ['SLOWLOG', 'GET', mostEntries], entries('slow'))
      const length = await asked(master, ['SLOWLOG', 'LEN'], Number)
      return older && { from: 'SLOWLOG', length: length ?? older.length, entries: older }
    }
    const all = [...slow]
    let length = 0
    for (const kind of logKinds) {
      if (kind !== 'slow')
        all.push(...((await asked(master, ['COMMANDLOG', 'GET', mostEntries, kind], entries(kind))) ?? []))
      length += (await asked(master, ['COMMANDLOG', 'LEN', kind], Number)) ?? 0
    }
    return { from: 'COMMANDLOG', length, entries: all }
  }

  /** @type {ServerReport[]} */
  let first = []
  return {
    remarks,
    /** @param {readonly Info[]} infos */
    begin: async (infos) => {
      first = await Promise.all(masters.map((master, i) => reportOf(master, infos[i])))
      await Promise.all(masters.map(hot.begin))
    },
    /** @param {readonly Info[]} infos @returns {Promise<Readings[]>} */
    end: (infos) =>
      Promise.all(
        masters.map(async (master, i) => ({
          hot: await hot.end(master),
          begin: first[i],
          end: await reportOf(master, infos[i]),
          log: await logOf(master),
        })),
      ),
  }
}
