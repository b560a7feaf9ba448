// Facts about Redis commands: where their keys are, which type of key they need, and whether they may be retried after a
// lost reply.
import { createRequire } from 'node:module'
import { didYouMean } from '../../base/did-you-mean.js'

const require = createRequire(import.meta.url)
/** @type {typeof import('@ioredis/commands')} */
const table = require('@ioredis/commands')

/** @type {Record<string, { arity: number }>} */
const details = require('@ioredis/commands/built/commands.json')

/** @type {Record<string, string>} */
const byType = {
  string:
    'SET SETEX PSETEX SETNX SETRANGE GETSET GETEX GETDEL APPEND INCR INCRBY INCRBYFLOAT DECR DECRBY SETBIT GETBIT ' +
    'BITFIELD BITCOUNT GET GETRANGE STRLEN MSET MSETNX MGET PFADD PFCOUNT PFMERGE',
  list: 'RPUSH LPUSH RPUSHX LPUSHX LINSERT LSET LTRIM LREM LPOP RPOP LMOVE RPOPLPUSH LLEN LRANGE LINDEX LPOS',
  set: 'SADD SREM SPOP SMOVE SCARD SMEMBERS SISMEMBER SMISMEMBER SRANDMEMBER',
  zset:
    'ZADD ZINCRBY ZREM ZREMRANGEBYSCORE ZREMRANGEBYRANK ZREMRANGEBYLEX ZPOPMIN ZPOPMAX ZCARD ZCOUNT ZSCORE ZMSCORE ' +
    'ZRANK ZREVRANK ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX ZRANDMEMBER GEOADD ' +
    'GEOPOS GEODIST GEOSEARCH',
  hash:
    'HSET HMSET HSETNX HSETEX HINCRBY HINCRBYFLOAT HDEL HEXPIRE HPEXPIRE HGET HMGET HGETALL HLEN HEXISTS HKEYS HVALS ' +
    'HRANDFIELD',
  stream: 'XADD XTRIM XDEL XLEN XRANGE XREVRANGE',
}

const typeBy = new Map(
  Object.entries(byType).flatMap(([type, names]) => names.split(' ').map((name) => [name, type])),
)

// A second execution of these changes the result; for unknown commands this is assumed.
const once = new Set(
  (
    'INCR INCRBY INCRBYFLOAT DECR DECRBY APPEND HINCRBY HINCRBYFLOAT ZINCRBY RPUSH LPUSH RPUSHX LPUSHX LINSERT XADD ' +
    'LPOP RPOP LMOVE RPOPLPUSH SPOP SMOVE ZPOPMIN ZPOPMAX GETDEL EVAL EVALSHA FCALL'
  ).split(' '),
)

const refusedFlags = ['blocking', 'admin', 'pubsub']

// What these store in other keys is neither counted nor removed.
/** @type {Record<string, string>} */
const elsewhere = {
  MOVE: 'moves keys to another database',
  MIGRATE: 'moves keys to another server',
  SWAPDB: 'swaps databases',
}

/** The type of the keys that a command reads or writes; undefined: any, or not known. @param {string} name */
export const typeOfCommand = (name) => typeBy.get(name)

/** Whether it is read-only. @param {string} name */
export const isRead = (name) => isKnown(name) && table.hasFlag(name.toLowerCase(), 'readonly')

/** Whether the table has it; servers may know more. @param {string} name */
export const isKnown = (name) => table.exists(name.toLowerCase())

/** @param {string} name @returns {'safe' | 'never'} */
export const repeatOf = (name) => (once.has(name) || !isKnown(name) ? 'never' : 'safe')

/** Whether where its keys are depends on its arguments. @param {string} name */
export const moves = (name) => isKnown(name) && table.hasFlag(name.toLowerCase(), 'movablekeys')

/** Why no model may use a command; null: it may. @param {string} name @param {readonly string[]} [args] */
export const refusalOf = (name, args = []) => {
  if (!isKnown(name)) return null
  if (elsewhere[name]) return `${name} ${elsewhere[name]}, which a model cannot do`
  if (name === 'COPY' && args.some((arg) => /^['"]?DB['"]?$/i.test(arg)))
    return 'COPY with DB copies keys to another database, which a model cannot do'
  const flag = refusedFlags.find((one) => table.hasFlag(name.toLowerCase(), /** @type {any} */ (one)))
  return flag ? `${name} is a command of the kind '${flag}', which a model cannot use` : null
}

/** Which arguments behind the name are keys. @param {string} name @param {readonly string[]} args */
export const keyIndexes = (name, args) => table.getKeyIndexes(name.toLowerCase(), [...args])

/** @param {string} name */
export const likeCommand = (name) => didYouMean(name.toLowerCase(), table.list, (like) => like.toUpperCase())

/** What is wrong with the number of a command's words, its name among them; null: nothing. @param {string} name @param {number} words */
export const aritySentence = (name, words) => {
  const { arity } = details[name.toLowerCase()] ?? { arity: -1 }
  if (arity < 0 ? words >= -arity : words === arity) return null
  const wanted = Math.abs(arity) - 1
  return `${name} takes ${arity < 0 ? 'at least ' : ''}${wanted} argument${wanted === 1 ? '' : 's'}, not ${words - 1}`
}

// As long as a plan without an end stays in the target.
export const longestLifetimeS = 10 * 365 * 24 * 3600

/** What is wrong with the name of a key; null: nothing. @param {string} pattern */
export const keyFault = (pattern) =>
  /^millrace:/i.test(pattern)
    ? `${pattern}: keys that begin with millrace: are those of Millrace itself`
    : null

/** Commands of one model. */
export const mostCommands = 1000
