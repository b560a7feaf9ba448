// How a command is written into a workload file, and the approximate bytes of its reply. Commands missing here are left out
// of the file, and the profile reports it.

/**
 * @import { ProfilePattern } from './profile.js'
 * @import { WorkloadKey } from './workload.js'
 *
 * @typedef {object} Form
 * @property {(key: WorkloadKey, name: string, range: number) => string} write
 * @property {(key: WorkloadKey, isMissing: boolean) => number} reply bytes, without the elements of a range
 * @property {(key: WorkloadKey) => number} [element] bytes of an element of a range
 * @property {boolean} isRead it counts as a hit or a miss
 * @property {string} [as] the command in the file, if it differs
 */

const mean = (/** @type {readonly number[]} */ numbers) =>
  numbers.reduce((all, n) => all + n, 0) / numbers.length
const bulk = (/** @type {number} */ bytes) => bytes + String(Math.round(bytes)).length + 5
const elementName = (/** @type {WorkloadKey} */ { element, elements }) =>
  element.replace('{element}', String(Math.ceil(mean(elements) / 2))).length
/** The sizes that are read: those used more count more. @param {WorkloadKey} key */
const valueBytes = ({ isNumber, bytes, use }) => {
  if (isNumber) return 3
  if (use === null) return mean(bytes)
  return mean(bytes.map((size, i) => size * use[i])) / mean(use)
}
const nil = 5
const ok = 5
const integer = 4
const score = 13

/** A value of the key, or of an element. @param {WorkloadKey} key */
const body = ({ isNumber }) => (isNumber ? '{random 1 999}' : '{bytes}')
const draw = (/** @type {WorkloadKey} */ { element }, percent = 100) =>
  percent === 100 ? element : element.replace('{element}', `{element ${percent}}`)

/** @param {string} rest @param {(key: WorkloadKey) => number} [bytes] @param {boolean} [isRead] @returns {Form} */
const plain = (rest, bytes = () => integer, isRead = false) => ({
  write: (key, name) => {
    const words = rest
      .replace('%V', body(key))
      .replace('%E', draw(key))
      .replace('%L', String(key.lifetime ?? 3600))
      .replace('%S', String(Math.round(mean(key.elements))))
      .replace('%K', name)
    return words
  },
  reply: (key, isMissing) => (isMissing ? nil : bytes(key)),
  isRead,
})
const value = (/** @type {WorkloadKey} */ key) => bulk(valueBytes(key))
const named = (/** @type {WorkloadKey} */ key) => bulk(elementName(key))
const all = (/** @type {(key: WorkloadKey) => number} */ each) => (/** @type {WorkloadKey} */ key) =>
  5 + mean(key.elements) * each(key)
const both = (/** @type {WorkloadKey} */ key) => named(key) + value(key)

/** A range of elements. @param {string} rest %R: its last; %C: how many @param {(key: WorkloadKey) => number} element @returns {Form} */
const range = (rest, element) => ({
  write: (_, name, count) =>
    rest
      .replace('%K', name)
      .replace('%R', String(count - 1))
      .replace('%C', String(count)),
  reply: () => nil,
  element,
  isRead: true,
})

/** @type {(form: Form, as: string) => Form} */
const instead = (form, as) => ({ ...form, as })

/** SET with the lifetime of its pattern. @type {Form} */
const set = {
  write: (key, name) => `SET ${name} ${body(key)}${key.lifetime === null ? '' : ' EX {lifetime}'}`,
  reply: () => ok,
  isRead: false,
}
/** @param {string} name of a command that gives a lifetime @param {number} scale */
const withLife = (name, scale) =>
  /** @type {Form} */ ({
    write: (key, key_) => `${name} ${key_} ${Math.round((key.lifetime ?? 3600) * scale)} ${body(key)}`,
    reply: () => ok,
    isRead: false,
  })
const scored = (/** @type {WorkloadKey} */ key) => named(key) + score

const push = (/** @type {string} */ name) => plain(`${name} %K %V`)
const pop = (/** @type {string} */ name) => plain(`${name} %K`, value)

/** @type {Record<string, Form>} */
export const commandForms = Object.assign(Object.create(null), {
  get: plain('GET %K', value, true),
  set,
  setex: withLife('SETEX', 1),
  psetex: withLife('PSETEX', 1000),
  setnx: plain('SETNX %K %V'),
  getset: plain('GETSET %K %V', value),
  getex: plain('GETEX %K', value, true),
  append: plain('APPEND %K x'),
  strlen: plain('STRLEN %K', undefined, true),
  incr: plain('INCR %K'),
  decr: plain('DECR %K'),
  incrby: plain('INCRBY %K 1'),
  decrby: plain('DECRBY %K 1'),
  mget: plain('MGET %K', (key) => 4 + value(key), true),
  mset: {
    ...set,
    write: (/** @type {WorkloadKey} */ key, /** @type {string} */ name) => `MSET ${name} ${body(key)}`,
  },
  setbit: plain('SETBIT %K {random 0 1000} 1'),
  getbit: plain('GETBIT %K {random 0 1000}', undefined, true),
  bitcount: plain('BITCOUNT %K', undefined, true),
  getrange: plain('GETRANGE %K 0 -1', value, true),
  hset: plain('HSET %K %E %V'),
  hmset: plain('HMSET %K %E %V', () => ok),
  hsetnx: plain('HSETNX %K %E %V'),
  hget: plain('HGET %K %E', value, true),
  hmget: plain('HMGET %K %E', (key) => 4 + value(key), true),
  hgetall: plain('HGETALL %K', all(both), true),
  hkeys: plain('HKEYS %K', all(named), true),
  hvals: plain('HVALS %K', all(value), true),
  hlen: plain('HLEN %K', undefined, true),
  hexists: plain('HEXISTS %K %E', undefined, true),
  hdel: plain('HDEL %K %E'),
  sadd: plain('SADD %K %E'),
  srem: plain('SREM %K %E'),
  sismember: plain('SISMEMBER %K %E', undefined, true),
  smismember: plain('SMISMEMBER %K %E', () => 8, true),
  smembers: plain('SMEMBERS %K', all(named), true),
  scard: plain('SCARD %K', undefined, true),
  srandmember: range('SRANDMEMBER %K %C', named),
  zadd: plain('ZADD %K {random 0 1000000} %E'),
  zincrby: plain('ZINCRBY %K 1 %E', () => score),
  zrem: plain('ZREM %K %E'),
  zscore: plain('ZSCORE %K %E', () => score, true),
  zrank: plain('ZRANK %K %E', () => 7, true),
  zrevrank: plain('ZREVRANK %K %E', () => 7, true),
  zcard: plain('ZCARD %K', undefined, true),
  zcount: plain('ZCOUNT %K -inf +inf', () => 7, true),
  zrange: range('ZRANGE %K 0 %R WITHSCORES', scored),
  zrevrange: range('ZREVRANGE %K 0 %R WITHSCORES', scored),
  zrangebyscore: range('ZRANGEBYSCORE %K -inf +inf LIMIT 0 %C', named),
  zrevrangebyscore: range('ZREVRANGEBYSCORE %K +inf -inf LIMIT 0 %C', named),
  lpush: push('LPUSH'),
  rpush: push('RPUSH'),
  lpop: pop('LPOP'),
  rpop: pop('RPOP'),
  blpop: instead(pop('LPOP'), 'LPOP'),
  brpop: instead(pop('RPOP'), 'RPOP'),
  llen: plain('LLEN %K', undefined, true),
  lindex: plain('LINDEX %K 0', value, true),
  lrange: range('LRANGE %K 0 %R', value),
  ltrim: plain('LTRIM %K -%S -1', () => ok),
  xadd: plain('XADD %K * f %V', () => 22),
  xlen: plain('XLEN %K', undefined, true),
  xrange: range('XRANGE %K - + COUNT %C', (key) => value(key) + 45),
  xrevrange: range('XREVRANGE %K + - COUNT %C', (key) => value(key) + 45),
  del: plain('DEL %K'),
  unlink: plain('UNLINK %K'),
  expire: plain('EXPIRE %K %L'),
  pexpire: {
    ...plain('PEXPIRE %K %L'),
    write: (/** @type {WorkloadKey} */ key, /** @type {string} */ name) =>
      `PEXPIRE ${name} ${(key.lifetime ?? 3600) * 1000}`,
  },
  exists: plain('EXISTS %K', undefined, true),
  ttl: plain('TTL %K', undefined, true),
  pttl: plain('PTTL %K', undefined, true),
  type: plain('TYPE %K', () => 9, true),
})

// Overhead of a list's node of 8 kB: its fields, a header, and rounding by the allocator.
const nodePart = 140 / 8192

/** An element of a list has its length before and behind it. @param {number} bytes */
const entryBytes = (bytes) => Math.max(1, bytes - (bytes < 66 ? 2 : bytes < 132 ? 3 : 4))

/**
 * Bytes of an element's name and value together: the memory of a key without the overhead of servers.
 * @param {ProfilePattern} pattern
 * @param {string} encoding
 * @param {number} size elements
 */
export const elementBytes = ({ type, memory_of_key: memory, name_bytes: nameBytes }, encoding, size) => {
  if (!memory || size === 0) return 16
  const isPacked = /listpack|ziplist/.test(encoding)
  const key = 64 + nameBytes + (type === 'list' ? 100 : isPacked ? 8 : 150)
  if (type === 'list') return entryBytes(((memory.value - key) / size) * (1 - nodePart))
  const beside =
    type === 'zset'
      ? isPacked
        ? 7
        : 90
      : type === 'hash'
        ? isPacked
          ? 4
          : 56
        : type === 'set'
          ? isPacked
            ? 2
            : 44
          : 12
  return Math.max(1, (memory.value - key) / size - beside)
}
