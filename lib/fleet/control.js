// The control server of a fleet: a Redis or Valkey beside the target, where the boxes of a run meet. Streams, keys that
// expire and its clock; what must happen as one is a script of lua/.
import { Redis } from 'ioredis'
import { errorOf, TargetError } from '../base/errors.js'
import { addressOf } from '../servers/address.js'
import { clientOptions, retryAfter, withLivePassword } from '../servers/client-options.js'
import { strictConnector } from '../servers/connector.js'
import { answerOf } from '../servers/control.js'
import { disconnect } from '../servers/disconnect.js'
import { parseInfo } from '../wire/info.js'
import { epochIn } from '../wire/time.js'
import { scriptBody, scriptSha } from '../workloads/lua.js'

/**
 * @import { Access } from '../servers/dial.js'
 *
 * @typedef {{ address: string, host: string, port: number, access: Access }} Place where the control is, and how it lets us in
 * @typedef {ReturnType<typeof controlOf>} Control of one run
 *
 * @typedef {object} Beat what a box sends
 * @property {string} data id of the run's data
 * @property {string} box
 * @property {boolean} mayLead
 * @property {string} [description] the box as JSON, where it has changed
 * @property {string} [end] its end as JSON
 * @property {readonly string[]} intervals oldest first
 *
 * @typedef {object} Answer of the control to a beat
 * @property {boolean} hasData false: the run's data is not there
 * @property {string} leader a box, or ''
 * @property {'joining' | 'started' | 'ending' | 'done' | ''} state ending: all writers have
 * @property {number | null} startMs epoch, by the control's clock
 * @property {string} stop who stopped the run, or ''
 * @property {number | null} stopMs when all boxes stop, epoch by the control's clock
 * @property {string} refused why there is no run, or ''
 */

/** How long the lease of the leader lasts. */
const leaderMs = 3000
/** How long the number of a writer is kept for a box without a sign of life. */
export const boxMs = 5000
/** Within this time every box knows that the run stops. */
export const stopsInMs = 2000
// The data of a run stays on the control server for a day: until then its result can be fetched.
const keptMs = 24 * 3600 * 1000
const answerLimitMs = 5000

/** @param {string} run */
export const fleetKeys = (run) => {
  const head = `millrace:fleet:${run}:`
  return {
    head,
    run: `${head}run`,
    boxes: `${head}boxes`,
    ends: `${head}ends`,
    beats: `${head}beats`,
    leader: `${head}leader`,
    stream: `${head}stream`,
    checkpoint: `${head}checkpoint`,
    seconds: `${head}seconds`,
    result: `${head}result`,
  }
}

/**
 * An interval of a box that another had followed as leader by the time it was sent: the next one's first difference of the
 * nodes begins before it. @param {string} text
 */
export const withoutNodes = (text) => {
  const { sampler, ...interval } = JSON.parse(text)
  return JSON.stringify({ ...interval, nodes: [] })
}

/** The entry id behind another. @param {string} id */
const nextId = (id) => {
  const [ms, n] = id.split('-')
  return `${ms}-${BigInt(n) + 1n}`
}

/** @param {Place} place @param {string} name @returns {Redis} that tries again for ever */
export const controlClient = ({ host, port, access }, name) => {
  const client = new Redis({
    host,
    port,
    ...clientOptions(access, name),
    Connector: strictConnector,
    db: access.db ?? 0,
    commandTimeout: answerLimitMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    lazyConnect: true,
    retryStrategy: retryAfter(1000),
  })
  // A lost connection is noticed by missing answers.
  client.on('error', () => {})
  return withLivePassword(client, access)
}

/** @param {Record<string, string>} fields */
const versionIn = (fields) => (fields.valkey_version ? '7.2' : (fields.redis_version ?? '0'))

/** @param {string} version at least 6.2, which trims streams by id */
const isOld = (version) => {
  const [major, minor = 0] = version.split('.').map(Number)
  return major < 6 || (major === 6 && minor < 2)
}

/**
 * Connected, and no server of the target.
 * @param {Place} place
 * @param {{ targets?: readonly { address: string, runId: string | null }[] }} [besides]
 */
export const openControl = async (place, { targets = [] } = {}) => {
  const client = controlClient(place, 'millrace-fleet')
  client.once('end', () => place.access.endRenewing?.())
  try {
    /** @type {Error | undefined} */
    let why
    client.on('error', (error) => (why = error))
    // ioredis rejects with a closed connection, whatever the reason.
    const connected = client.connect().catch((error) => Promise.reject(why ?? error))
    await answerOf(`--control ${place.address}`, place.access, connected)
    const { fields } = parseInfo(String(await answerOf(place.address, place.access, client.info('server'))))
    if (isOld(versionIn(fields)))
      throw new TargetError(
        `--control ${place.address}: the control runs ${fields.redis_version}, and streams are trimmed by id from 6.2 on; take a newer server`,
      )
    const same = targets.find(
      ({ address, runId }) => address === place.address || (runId !== null && runId === fields.run_id),
    )
    if (same)
      throw new TargetError(
        `--control ${place.address} is ${same.address}, a server of the target: what the fleet sends there would be measured as load; start a small Redis or Valkey beside the target`,
        { code: 'CONTROL_IS_TARGET' },
      )
    return client
  } catch (error) {
    disconnect(client)
    throw error
  }
}

/** @param {{ host: string, port?: number } & Access} control @returns {Place} */
export const placeOf = ({ host, port = 6379, ...access }) => ({
  address: addressOf({ host, port }),
  host,
  port,
  access,
})

/**
 * A script by its digest; where the server does not have it, with its text.
 * @param {Redis} client
 * @param {string} name
 * @param {readonly string[]} keys
 * @param {readonly (string | number)[]} args
 */
const scripted = async (client, name, keys, args) => {
  try {
    return await client.evalsha(scriptSha(name), keys.length, ...keys, ...args)
  } catch (error) {
    if (!/^NOSCRIPT/.test(errorOf(error).message)) throw error
    return client.eval(scriptBody(name), keys.length, ...keys, ...args)
  }
}

/** @param {Redis} client */
const senseless = ({ options: { host = '', port = 0 } }) =>
  new TargetError(
    `--control ${addressOf({ host, port })}: its answers make no sense; is it a Redis or Valkey?`,
  )

/**
 * The texts that a script of ours returns.
 * @param {Redis} client
 * @param {unknown} answer
 * @param {number} count
 * @returns {string[]}
 */
const textsIn = (client, answer, count) => {
  if (!Array.isArray(answer) || answer.length !== count || !answer.every((one) => typeof one === 'string'))
    throw senseless(client)
  return answer
}

/** @param {Redis} client @param {string} text */
const momentIn = (client, text) => {
  if (text === '') return null
  if (!Number.isSafeInteger(Math.round(Number(text)))) throw senseless(client)
  return Number(text)
}

/** The data of a run on the control server. @param {Redis} client @param {ReturnType<typeof fleetKeys>} keys */
const keptOf = (client, keys) => ({
  /** Entries behind an id. @param {string} last @param {number} count @returns {Promise<[id: string, text: string][]>} */
  async read(last, count) {
    const found = await client.xrange(keys.stream, `(${last}`, '+', 'COUNT', count)
    return found.map(([id, [field, text]]) => [id, field === 'late' ? withoutNodes(text) : text])
  },

  /** @returns {Promise<string | null>} */
  checkpoint: () => client.get(keys.checkpoint),
  /** @returns {Promise<Record<string, string>>} fields of the run */
  run: () => client.hgetall(keys.run),
  /** @returns {Promise<Record<string, string>>} descriptions by box */
  boxes: () => client.hgetall(keys.boxes),
  /** @returns {Promise<Record<string, string>>} ends by box */
  ends: () => client.hgetall(keys.ends),
  /** @param {number} [from] @returns {Promise<string[]>} */
  seconds: (from = 0) => client.lrange(keys.seconds, from, -1),
  /** @returns {Promise<Record<string, string>>} when each box was heard of last, epoch */
  beats: () => client.hgetall(keys.beats),
  result: () => client.getBuffer(keys.result),
  /** Boxes that hold the leases of these numbers. @param {readonly string[]} leases their keys */
  holders: async (leases) => (leases.length === 0 ? [] : client.mget(...leases)),
  /** How much the control keeps of the run. */
  async bytes() {
    const names = [keys.stream, keys.checkpoint, keys.seconds, keys.boxes, keys.ends]
    const found = await Promise.all(names.map((name) => client.call('MEMORY', 'USAGE', name)))
    return Object.fromEntries(names.map((name, i) => [name.slice(keys.head.length), Number(found[i] ?? 0)]))
  },
})

/** What boxes and leaders ask of a run's keys. @param {Redis} client @param {string} run */
export const controlOf = (client, run) => {
  const keys = fleetKeys(run)
  return {
    ...keptOf(client, keys),
    keys,
    client,
    /** Epoch milliseconds by the control's clock. */
    time: async () => epochIn('the control', await client.time()),

    /** @param {{ data: string, digest: string, plan: string, writers: number, box: string, description: string, startMs: number | null }} joining */
    async join({ data, digest, plan, writers, box, description, startMs }) {
      const args = [data, digest, plan, writers, box, description, startMs ?? '', keptMs]
      const answer = await scripted(client, 'fleet-join', [keys.run, keys.boxes], args)
      const [state, runData, theirs, start, begun] = textsIn(client, answer, 5)
      if (!/^(ok|done|other)$/.test(state)) throw senseless(client)
      const moments = { startMs: momentIn(client, start), begunMs: Number(momentIn(client, begun)) }
      return { state, data: runData, plan: theirs, ...moments }
    },

    /** @param {Beat} beat @returns {Promise<Answer>} */
    async beat({ data, box, mayLead, description = '', end = '', intervals }) {
      const names = [keys.run, keys.leader, keys.stream, keys.boxes, keys.ends, keys.beats]
      const args = [data, box, mayLead ? leaderMs : '', keptMs, description, end, ...intervals]
      const answer = textsIn(client, await scripted(client, 'fleet-beat', names, args), 7)
      const [dataState, leader, state, start, stop, stopAt, refused] = answer
      return {
        hasData: dataState === 'ok',
        leader,
        state: /** @type {Answer['state']} */ (state),
        startMs: momentIn(client, start),
        stop,
        stopMs: momentIn(client, stopAt),
        refused,
      }
    },

    /**
     * @param {object} folded
     * @param {string} folded.data
     * @param {string} folded.box
     * @param {string} folded.before name of the commit that it is built on
     * @param {string} folded.name its own
     * @param {string} folded.last entry
     * @param {string} folded.checkpoint
     * @param {readonly string[]} folded.seconds
     * @returns {Promise<boolean>} false: it was not taken
     */
    async commit({ data, box, before, name, last, checkpoint, seconds }) {
      const names = [keys.run, keys.leader, keys.stream, keys.checkpoint, keys.seconds]
      const args = [data, box, before, name, checkpoint, keptMs, nextId(last), ...seconds]
      return (await scripted(client, 'fleet-commit', names, args)) === 1
    },

    /** Whichever is the first to say so. @param {string} field @param {string} value */
    async set(field, value) {
      await client.hsetnx(keys.run, field, value)
    },
    /** The servers that the run writes to, as the first box knows them. @returns {Promise<string | null>} */
    servers: () => client.hget(keys.run, 'servers'),
    /** All boxes stop at the same moment, so that none has ticks that others do not have. @param {string} who */
    async stop(who) {
      const atMs = (await this.time()) + stopsInMs
      await client
        .multi()
        .hsetnx(keys.run, 'stop_at', String(Math.round(atMs)))
        .hsetnx(keys.run, 'stop', who)
        .exec()
    },
    /** The run begins at a moment by the control's clock. @param {number} startMs */
    async start(startMs) {
      await client.hsetnx(keys.run, 'start', String(startMs))
      await client.hset(keys.run, 'state', 'started')
    },
    /** The run has ended, with its result. @param {Buffer} result */
    async finish(result) {
      await client
        .multi()
        .set(keys.result, result, 'PX', keptMs)
        .hset(keys.run, 'state', 'done', 'ended', String(await this.time()))
        .del(keys.stream)
        .exec()
    },
    /** May be led by a box that is none, where no box is left. @param {string} box */
    lead: async (box) => (await client.set(keys.leader, box, 'PX', leaderMs, 'NX')) === 'OK',
  }
}
