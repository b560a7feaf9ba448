// The types of options: how a text becomes a value, and how errors describe valid texts.
import { isIP } from 'node:net'
import { byteUnits, countUnits, scaled, timeUnits } from '../base/scaled.js'
import { exactly } from '../base/typed.js'
import { absoluteThreshold } from '../result/thresholds.js'
import { arrivalsOf } from '../traffic/arrivals.js'
import { paceOf } from '../traffic/pace.js'
import { orderOf } from '../traffic/popularity.js'
import { rampOf, stepsOf } from '../traffic/rates.js'
import { sizesIn } from '../traffic/sizes.js'
import { timesIn } from '../traffic/times.js'
import { loadCommands, loadModel } from '../workloads/own/load.js'

/**
 * @import { GuardLimits, Option } from '../../settings.js'
 *
 * @typedef {object} ValueType
 * @property {(text: string, option: Option) => unknown} read the value, undefined where the text is none
 * @property {(option: Option) => string} expects 'must be ...'
 * @property {(option: Option) => string} shape the same in a word or two, for help and tables
 * @property {string} [place] of a value in the help; TEXT by default
 *
 * @typedef {object} Address the parts of --url, by the names of settings
 * @property {string} url without user and password
 * @property {string} host
 * @property {number} [port] where it names one
 * @property {string} [username]
 * @property {string} [password]
 * @property {number} [db]
 * @property {true} [tls]
 */

const shortUnits = new Map([
  ['us', 1],
  ['ms', 1e3],
  ['s', 1e6],
])

/**
 * @param {(text: string, option: Option) => number | undefined} number
 * @param {string} noun
 * @param {string} [place]
 * @param {(option: Option) => string} [hint]
 * @returns {ValueType}
 */
function ranged(number, noun, place, hint = () => '') {
  return {
    read(text, option) {
      const value = number(text, option)
      const [min = 0, max = Number.MAX_SAFE_INTEGER] = (option.range ?? []).map((end) => number(end, option))
      return value !== undefined && value >= min && value <= max ? value : undefined
    },
    expects: (option) => `${noun} from ${option.range?.join(' to ')}${hint(option)}`,
    shape: (option) => option.range?.join(' to ') ?? '',
    place,
  }
}

/** @param {string} text @param {Option} option */
const milliseconds = (text, { unit = 's' }) => {
  // 1m30s
  const parts = /^(?:\d+h)?(?:\d+m(?!s))?(?:\d+s)?(?:\d+ms)?$/.test(text)
    ? (text.match(/\d+[a-z]+/g) ?? [])
    : []
  if (parts.length > 1) return parts.reduce((sum, part) => sum + Number(scaled(part, timeUnits)), 0)
  return scaled(text, new Map([...timeUnits, ['', timeUnits.get(unit) ?? 1]]))
}

/** @param {string} text @param {Option} option */
function wholeSeconds(text, option) {
  const seconds = (milliseconds(text, option) ?? Number.NaN) / 1000
  return Number.isInteger(seconds) ? seconds : undefined
}

/** Milliseconds and parts of them. @param {string} text */
function shortTime(text) {
  const us = scaled(text, shortUnits)
  return us === undefined ? undefined : us / 1000
}

/** @param {Option} option */
const durationHint = ({ unit }) => ` (250ms, 60s, 1m30s, 1h; a plain number is ${unit})`

/** `3` or `2-4`. @param {string} text @returns {readonly number[] | undefined} */
function agentNumbers(text) {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const count = Number(last) - Number(first) + 1
  if (!(Number(first) >= 1 && count >= 1)) return
  return Object.freeze(Array.from({ length: count }, (_, i) => Number(first) + i))
}

const fewestGrouped = 20

/** Of many names those with one beginning together: `lookup-{get, set, mix}`. @param {readonly string[]} names */
const groupedNames = (names) => {
  if (names.length < fewestGrouped) return names
  const familyOf = (/** @type {string} */ name) => name.split('-', 1)[0]
  const families = [...new Set(names.map(familyOf))].map((family) => {
    const own = names.filter((name) => familyOf(name) === family)
    return { family, own, isGroup: own.length > 2 && own.every((name) => name.length > family.length) }
  })
  return [
    ...families.flatMap(({ own, isGroup }) => (isGroup ? [] : own)),
    ...families.flatMap(({ family, own, isGroup }) =>
      isGroup ? [`${family}-{${own.map((name) => name.slice(family.length + 1)).join(', ')}}`] : [],
    ),
  ]
}

/** A name or an address; brackets of IPv6 are removed. @param {string} text */
function hostName(text) {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) || /^[\w.-]{1,253}$/.test(text) ? bare : undefined
}

/** `10.0.0.1:7000`, `[::1]:7000`; or a host alone. @param {string} text */
function hostAndPort(text) {
  const [, named = text, digits] = /^([^:]+|\[.*\]):(\d{1,5})$/.exec(text) ?? []
  const host = hostName(named)
  const port = Number(digits)
  if (host === undefined || port < 1 || port > 65_535) return
  return Object.freeze(digits === undefined ? { host } : { host, port })
}

/** @param {string} text @returns {Address | undefined} */
function addressOf(text) {
  if (!/^rediss?:\/\/[^\s\p{C}]+$/u.test(text))
    return /:\d+$/.test(text) && hostAndPort(text) ? addressOf(`redis://${text}`) : undefined
  try {
    const url = new URL(text)
    const host = hostName(decodeURIComponent(url.hostname))
    if (!host || url.search || url.hash || url.port === '0' || !/^\/?\d{0,6}$/.test(url.pathname)) return
    const db = url.pathname.slice(1)
    return {
      url: `${url.protocol}//${url.host}${url.pathname}`,
      host,
      ...(url.port && { port: Number(url.port) }),
      ...(url.username && { username: decodeURIComponent(url.username) }),
      ...(url.password && { password: decodeURIComponent(url.password) }),
      ...(db && { db: Number(db) }),
      ...(url.protocol === 'rediss:' && { tls: true }),
    }
  } catch {
    return // not a URL, or a % without a character
  }
}

const flagWords = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => exactly([word, true])),
  ...['false', '0', 'no', 'off'].map((word) => exactly([word, false])),
])

/** `evicted>0,memory>90%,lag>256MB`, any of them, or `off`. @param {string} text @returns {GuardLimits | undefined} */
function guardLimits(text) {
  /** @type {{ -readonly [K in keyof GuardLimits]: number | null }} */
  const limits = { evicted: null, memoryPct: null, lagBytes: null }
  for (const part of text === 'off' ? [] : text.split(',')) {
    const [, name, limit] = /^ *(evicted|memory|lag) *> *([^,]*?) *$/.exec(part) ?? []
    /** @type {Record<string, [keyof GuardLimits, number | undefined]>} */
    const known = {
      evicted: ['evicted', scaled(limit, countUnits)],
      memory: ['memoryPct', /^\d{1,2}(\.\d+)? ?%$/.test(limit) ? Number.parseFloat(limit) : undefined],
      lag: ['lagBytes', scaled(limit, byteUnits)],
    }
    const [key, value] = known[name] ?? []
    if (key === undefined || value === undefined || limits[key] !== null) return
    limits[key] = value
  }
  return Object.freeze(limits)
}

/** `9100`, `0.0.0.0:9100`, `[::]:9100`; where it may be left out, any free port. @param {string} text @param {Option} option */
function listenerOf(text, { bare }) {
  if (text === bare) return Object.freeze({ host: '127.0.0.1', port: 0 })
  if (bare !== undefined && text === 'none') return null
  const [, host = '127.0.0.1', digits] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const address = hostName(host)
  const port = Number(digits)
  return address !== undefined && port >= 1 && port <= 65_535
    ? Object.freeze({ host: address, port })
    : undefined
}

// Directives that Millrace sets for a local server: its folder, ports and access.
const ownDirectives =
  /^(port|bind|dir|daemonize|logfile|pidfile|requirepass|masterauth|protected-mode|unixsocket|set-proc-title|tls-.*|cluster-(enabled|config-file|port|announce-.*))$/

/** NAME=VALUE, several with commas. @param {RegExp} pattern @param {RegExp} [refused] names @returns {ValueType['read']} */
const pairs =
  (pattern, refused = /^$/) =>
  (text) => {
    const parts = text === 'none' ? [] : text.split(',').map((part) => pattern.exec(part))
    if (parts.some((part) => part === null || refused.test(part[1]))) return
    return Object.freeze(parts.map((part) => exactly([String(part?.[1]), String(part?.[2])])))
  }

const duration = ranged(milliseconds, 'a time', 'TIME', durationHint)

const lifetime = ranged(wholeSeconds, 'whole seconds', 'TIME', durationHint)

/** @type {ValueType} */
const ofAddress = {
  read: addressOf,
  expects: () =>
    'redis://[user:password@]host[:port][/db] or rediss://..., with % codes for special characters, or host:port',
  shape: () => 'redis://...',
  place: 'URL',
}

// As --iam has it, behind an address.
const loginByIam = /^(.*)\?iam=([a-z][a-z0-9-]{0,39}(?:@[A-Za-z][A-Za-z0-9-]{0,49})?)$/

const size = ranged((text) => scaled(text, byteUnits), 'a size', 'SIZE')

/** Only what is named: another source may have the other. @param {string} text @param {Option} option choices: forms, then levels */
const logOf = (text, { choices = [] }) => {
  const words = text.split(',').map((word) => word.trim())
  const levels = words.filter((word) => choices.indexOf(word) > 1)
  const forms = words.filter((word) => ['text', 'json'].includes(word))
  if (levels.length > 1 || forms.length > 1 || levels.length + forms.length < words.length) return
  return Object.freeze({ ...(forms[0] && { log: forms[0] }), ...(levels[0] && { logLevel: levels[0] }) })
}

const integer = ranged((text) => scaled(text, countUnits), 'a whole number', 'N')

/** Every type an option may have. */
export const VALUE_TYPES = Object.freeze({
  integer,
  number: ranged((text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined), 'a number', 'N'),
  bytes: size,
  /** @type {ValueType} */
  sizes: {
    read: (text, option) => {
      const sizes = sizesIn(text, true)
      return sizes ? sizes.text : size.read(text, option)
    },
    expects: (option) => `${size.expects(option)}, 200B-4kB, lognormal:p50=200B,p99=4kB, or histogram:FILE`,
    shape: (option) => `${size.shape(option)}, lognormal:PERCENTILES, histogram:FILE`,
    place: 'SIZE',
  },
  duration,
  /** @type {ValueType} */
  warmUp: {
    read: (text, option) => (text === 'auto' ? 'auto' : duration.read(text, option)),
    expects: (option) => `auto, or ${duration.expects(option)}`,
    shape: (option) => `auto, ${duration.shape(option)}`,
  },
  /** @type {ValueType} */
  lifetime: {
    read: (text, option) => {
      const ends = text.split('-').map((end) => lifetime.read(end, option))
      if (ends.includes(undefined) || ends.length > 2) return
      const [least, most = least] = /** @type {number[]} */ (ends)
      return least < most ? Object.freeze([least, most]) : least === most ? most : undefined
    },
    expects: (option) => `${lifetime.expects(option)}, or a range such as 60s-600s`,
    shape: (option) => `${lifetime.shape(option)}, or a range`,
    place: 'TIME',
  },
  shortTime: ranged(shortTime, 'a time', 'TIME', () => ' (500us, 0.5ms, 5ms)'),
  /** @type {ValueType} */
  times: {
    read: (text) => (timesIn(text) ? text : undefined),
    expects: () => 'a time up to 60s, a range such as 2ms-20ms, or exp:5ms',
    shape: () => 'TIME, TIME-TIME, exp:TIME',
    place: 'TIME',
  },
  /** @type {ValueType} */
  work: {
    read: (text) => {
      if (text === 'none') return Object.freeze({ kind: 'cpu', us: 0 })
      const [, kind = 'cpu', time] = /^(?:(cpu|sleep):)?([^:]+)$/.exec(text) ?? []
      const us = scaled(time ?? '', shortUnits)
      const [least, most] = kind === 'sleep' ? [1000, 3.6e9] : [1, 60e6]
      return us !== undefined && us >= least && us <= most ? Object.freeze({ kind, us }) : undefined
    },
    expects: () => 'none, cpu:TIME from 1us to 60s, or sleep:TIME from 1ms to 1h (500us means cpu:500us)',
    shape: () => 'none, cpu:TIME, sleep:TIME',
  },
  /** @type {ValueType} */
  flag: {
    read: (text) => flagWords.get(text.toLowerCase()),
    expects: () => 'true or false',
    shape: () => '',
    place: '',
  },
  /** @type {ValueType} */
  choice: {
    read: (text, { choices, values = {} }) =>
      choices?.includes(text) ? (Object.hasOwn(values, text) ? values[text] : text) : undefined,
    expects: ({ choices = [] }) =>
      choices.length > 1 ? `one of ${groupedNames(choices).join(', ')}` : choices[0],
    shape: ({ choices }) => choices?.join(', ') ?? '',
    place: 'NAME',
  },
  /** @type {ValueType} */
  choices: {
    read: (text, { choices = [] }) => {
      const words = text.split(',').map((word) => word.trim())
      if (!words.every((word) => choices.includes(word)) || new Set(words).size < words.length) return
      if (words.includes('none') && words.length > 1) return
      return Object.freeze(words.filter((word) => word !== 'none'))
    },
    expects: ({ choices = [] }) => `one of ${choices.join(', ')}, or several with commas`,
    shape: ({ choices }) => choices?.join(', ') ?? '',
    place: 'NAMES',
  },
  /** @type {ValueType} */
  log: {
    read: logOf,
    expects: ({ choices = [] }) =>
      `text or json, one of ${choices.slice(2).join(', ')}, or both with a comma`,
    shape: ({ choices }) => choices?.join(', ') ?? '',
    place: 'NAMES',
  },
  /** Seconds. */
  seconds: ranged(
    (text, option) => (milliseconds(text, option) ?? Number.NaN) / 1000,
    'a time',
    'TIME',
    durationHint,
  ),
  wholeSeconds: lifetime,
  /** @type {ValueType} */
  configuration: {
    read: pairs(/^ *([a-z][a-z\d-]*) *= *([^\p{C}]+?) *$/u, ownDirectives),
    expects: () =>
      "NAME=VALUE of a server's configuration, several with commas; without its port, folder and password",
    shape: () => 'NAME=VALUE',
  },
  /** @type {ValueType} Read by the parser: each of its names is an option. */
  named: {
    read: (text) => text,
    expects: () => 'NAME=VALUE, several with commas',
    shape: () => 'NAME=VALUE,...',
    place: 'NAME=VALUE',
  },
  /** @type {ValueType} */
  driverOption: {
    read: pairs(/^ *([A-Za-z]+) *= *(\w+) *$/),
    expects: () => 'NAME=VALUE of a client library, several with commas',
    shape: () => 'NAME=VALUE',
  },
  /** @type {ValueType} */
  guard: {
    read: guardLimits,
    expects: () =>
      'limits such as evicted>0,memory>90%,lag>256MB (a number, a part below 100 %, a size), or off',
    shape: () => 'evicted>N, memory>N%, lag>SIZE, off',
  },
  /** @type {ValueType} */
  limits: {
    // Throws an error that names the fault.
    read: (text) =>
      Object.freeze(text === 'none' ? [] : text.split(',').map((part) => absoluteThreshold(part).text)),
    expects: () => 'limits of figures, as in latency.p99<20ms',
    shape: () => 'FIGURE<LIMIT',
    place: 'LIMIT',
  },
  /** @type {ValueType} */
  model: {
    // An error in the file is reported with its line.
    read: (path) => loadModel(path),
    expects: () => 'a file .js or .yaml',
    shape: () => 'path',
  },
  /** @type {ValueType} */
  commands: {
    read: (text) => loadCommands(text.split('\n').filter((line) => line.trim() !== '')),
    expects: () => 'a command',
    shape: () => 'command',
  },
  /** @type {ValueType} */
  listener: {
    read: listenerOf,
    expects: ({ bare }) =>
      `a port from 1 to 65535, or an address and a port as in 0.0.0.0:9100${bare ? ', or nothing' : ''}`,
    shape: () => 'port, address:port',
    place: 'PORT',
  },
  /** @type {ValueType} */
  rate: {
    read: (/** @type {string} */ text) => {
      if (text.includes('@')) return stepsOf(text)
      if (text.includes('..')) return rampOf(text)
      const rate = scaled(text, countUnits)
      return text === 'max' ? text : rate !== undefined && rate > 0 ? rate : undefined
    },
    expects: () =>
      'max or a number of operations a second, such as 20000 or 20k, or 10k@30s,20k@1m, or 10k..100k/5m (2s or more)',
    shape: () => 'max, operations a second, RATE@TIME,... or RATE..RATE/TIME',
    place: 'N',
  },
  /** @type {ValueType} */
  order: {
    read: (/** @type {string} */ text) => (orderOf(text) ? text : undefined),
    expects: () =>
      'sequential, uniform, split, zipf:THETA such as zipf:0.99, hot:ITEMS%:DRAWS% such as hot:10%:90%, or recent:ITEMS%',
    shape: () => 'sequential, uniform, split, zipf:THETA, hot:ITEMS%:DRAWS%, recent:ITEMS%',
  },
  /** @type {ValueType} */
  pace: {
    read: (/** @type {string} */ text) => (paceOf(text) ? text : undefined),
    expects: () => 'a share of the items and a time, such as 1%/s, 5%/m or 10%/h',
    shape: () => 'N%/s, N%/m, N%/h',
  },
  /** @type {ValueType} */
  arrivals: {
    read: (/** @type {string} */ text) => (arrivalsOf(text) ? text : undefined),
    expects: () =>
      'constant, poisson, burst:TIMES:LENGTH/EVERY such as burst:5x:1s/10s, daily:LENGTH such as daily:10m, or poisson and one of these with a comma',
    shape: () => 'constant, poisson, burst:5x:1s/10s, daily:10m',
  },
  share: ranged((text) => (/^[\d.]+(e-\d+)?$/.test(text) ? Number(text) : undefined), 'a share'),
  /** @type {ValueType} */
  ratio: {
    read: (/** @type {string} */ text) => {
      if (!/^\d{1,4}:\d{1,4}(:\d{1,4})?$/.test(text)) return
      const weights = text.split(':').map(Number)
      return weights.some((weight) => weight > 0) ? Object.freeze(weights) : undefined
    },
    expects: () => 'writes:reads or writes:reads:deletes, such as 1:10 or 2:10:1',
    shape: () => 'writes:reads:deletes',
    place: 'N:N',
  },
  /** @type {ValueType} */
  threads: {
    read: (text, option) => (text === 'auto' ? 'auto' : integer.read(text, option)),
    expects: (option) => `auto, or ${integer.expects(option)}`,
    shape: (option) => `auto, ${integer.shape(option)}`,
    place: 'N',
  },
  agents: {
    read: (/** @type {string} */ text) => (text === 'auto' || text === 'all' ? text : agentNumbers(text)),
    expects: () => 'a number, a range such as 2-4, all or auto',
    shape: () => '3, 2-4, all, auto',
    place: 'N',
  },
  /** @type {ValueType} */
  text: {
    read: (text, { pattern }) => (pattern?.test(text) ? text : undefined),
    expects: ({ expects = '' }) => expects,
    shape: () => 'text',
  },
  /** @type {ValueType} */
  secret: {
    read: (text) => text || undefined,
    expects: () => 'a text',
    shape: () => 'text',
  },
  /** @type {ValueType} */
  path: {
    read: (text) => (/^[^\p{C}]+$/u.test(text) ? text : undefined),
    expects: () => 'a path',
    shape: () => 'path',
    place: 'PATH',
  },
  /** @type {ValueType} Its parts are two settings. */
  host: {
    read: hostAndPort,
    expects: () => 'a name or an address, with or without :port',
    shape: () => 'name or address, or with :port',
    place: 'NAME',
  },
  url: ofAddress,
  /** @type {ValueType} Another server than the target: its parts are one setting. */
  server: {
    ...ofAddress,
    read: (text) => {
      const [, plain = text, iam] = loginByIam.exec(text) ?? []
      const address = addressOf(plain)
      return address && Object.freeze({ ...address, ...(iam && { iam }) })
    },
  },
})

/** A text of that type that is of no option. @param {TypeName} type @param {string} text @returns {unknown} undefined: it is none */
export const readAs = (type, text) => VALUE_TYPES[type].read(text, /** @type {Option} */ ({}))

/**
 * @typedef {keyof typeof VALUE_TYPES} TypeName
 * @typedef {any} Values of a command's options, by their keys
 */

/** `10k@30s,20k`, mistyped too: a number on both sides of an @ is not an address. @param {string} text */
const isSchedule = (text) =>
  /^[^:/]*$/.test(text) && /(^|,)\d+(\.\d+)?[a-z]{0,2}@\d+(\.\d+)?[a-z]{0,2}(,|$)/i.test(text)

/**
 * Typed text for one line of a message: short, without control characters, and without parts of an address that may be a
 * password.
 * @param {string} text
 */
export function shown(text) {
  const hidden = isSchedule(text) ? text : text.replace(/(^|\/\/)[^/]*@/g, '$1***@')
  const plain = hidden.replace(/\p{C}/gu, '?')
  return plain.length > 40 ? `${plain.slice(0, 40)}...` : plain
}
