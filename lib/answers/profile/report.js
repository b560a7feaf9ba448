// The answer of `millrace profile`: its shape, its sentence, and its report.
import * as S from '../../base/shape.js'
import { asPercent, bytes, count, dash, micros, rate, several } from '../../base/units.js'
import { answer, answerSchema, figure, table, words } from '../../report/kit.js'
import { workloadOf, workloadText } from './workload.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { AnswerTable, Column } from '../../report/kit.js'
 * @import { Profile } from './profile.js'
 */

const amounts = S.object(S.each(['value', 'low', 'high'], S.number))
const estimate = S.said('95 % interval', amounts)
const effect = S.object({
  ...S.each(['now', 'other'], S.number),
  change: S.said('a share; below 0: cheaper', amounts),
  is_cheaper: S.said('the interval does not include 0', S.flag),
})
const ofCore = S.said('of a core', S.figure)
const upperEdge = S.said('at most: the upper edge of a bucket', S.figure)
const lowerEdge = S.said('at least: the lower edge of a bucket', S.figure)

const advised = S.object({
  plays: S.number,
  advice: S.list(
    S.object({
      ...S.each(['pattern', 'title', 'when'], S.text),
      rounds: S.number,
      ...S.each(['memory_bytes', 'cpu_us'], effect),
    }),
  ),
  silent: S.list(S.object(S.each(['pattern', 'title'], S.text))),
})

const schema = answerSchema('profile', {
  started: S.text,
  duration_s: S.number,
  ...S.each(['interrupted', 'anonymous'], S.flag),
  server: S.object({
    versions: S.list(S.text),
    ...S.each(['masters', 'replicas'], S.number),
    replica_addresses: S.list(S.text),
    policy: S.note,
  }),
  ...S.each(['keys', 'expiring_keys', 'keys_per_s', 'expiring_keys_per_s'], S.number),
  stale_share: S.said('of the keys that expire: those that have, and are still counted', S.number),
  ...S.each(['expired_per_s', 'evicted_per_s', 'names_seen'], S.number),
  complete: S.said('SCAN has gone through all keys', S.flag),
  ...S.each(['memory_bytes', 'commands_per_s', 'bytes_in_per_s', 'bytes_out_per_s', 'cpu_pct'], S.number),
  noise: S.said(
    'half of the 95 % interval of each rate, as a share of it',
    S.object(S.each(['commands', 'bytes_in', 'bytes_out', 'cpu', 'gone'], S.figure)),
  ),
  ...S.each(['miss_ratio', 'commands_per_read'], S.number),
  clients: S.object({
    connections: S.number,
    busy: S.said('so many that send alike send as these do', S.figure),
    groups: S.list(
      S.object({
        name: S.text,
        connections: S.number,
        ...S.each(['commands_per_s', 'bytes_in_per_s', 'bytes_out_per_s'], S.figure),
      }),
    ),
  }),
  times_from: S.said(
    'LATENCY HISTOGRAM: of the time that was looked at; INFO: since the server started',
    S.note,
  ),
  commands: S.list(
    S.object({
      name: S.text,
      ...S.each(['per_s', 'share', 'us_per_call'], S.number),
      ...S.each(['p50_us', 'p99_us'], upperEdge),
      is_data: S.flag,
    }),
  ),
  patterns: S.list(
    S.object({
      pattern: S.text,
      pieces: S.list(S.text),
      type: S.note,
      keys: estimate,
      ...S.each(['sampled', 'name_bytes'], S.number),
      encodings: S.byName(S.number),
      sizes: S.said('bytes of strings, else elements: means of equal parts', S.list(S.number)),
      ...S.each(['size', 'memory_of_key', 'memory_bytes'], S.orNull(estimate)),
      expiring: S.number,
      left_s: S.object({
        ...S.each(['median', 'low', 'high'], S.figure),
        parts: S.list(S.number),
        most: S.figure,
      }),
      uses_per_s: S.said('of a key, at least', S.figure),
      other_types: S.number,
    }),
  ),
  patterns_left_out: S.number,
  own: S.object({
    ...S.each(['commands', 'commands_share'], S.number),
    cpu_share: S.said('of a core', S.number),
    server_cpu_share: S.said("of the servers' own CPU", S.number),
  }),
  key_sizes: S.said(
    'of all keys, as INFO keysizes counts them',
    S.list(
      S.object({
        type: S.text,
        unit: S.oneOf('bytes', 'elements'),
        keys: S.number,
        ...S.each(['median', 'p99'], lowerEdge),
        buckets: S.list(S.object(S.each(['at_least', 'keys'], S.number))),
      }),
    ),
  ),
  log: S.orNull(
    S.object({
      from: S.text,
      length: S.number,
      groups: S.list(
        S.object({
          kind: S.oneOf('slow', 'large-request', 'large-reply'),
          command: S.text,
          pattern: S.note,
          count: S.number,
          most: S.said('microseconds of a slow command, else bytes', S.number),
        }),
      ),
    }),
  ),
  slots: S.orNull(
    S.list(
      S.object({
        ...S.each(['slot', 'keys'], S.number),
        cpu_share: ofCore,
        ...S.each(['bytes_in_per_s', 'bytes_out_per_s'], S.figure),
      }),
    ),
  ),
  hot_keys: S.orNull(
    S.object({
      grammar: S.oneOf('redis', 'valkey'),
      tracked_s: S.figure,
      patterns: S.list(
        S.object({
          pattern: S.text,
          keys: S.number,
          cpu_share: S.said('of the time of all commands with keys', S.figure),
          busiest_cpu_share: S.said('of the key with the most time', S.figure),
          ...S.each(['net_share', 'per_s'], S.figure),
        }),
      ),
    }),
  ),
  ...S.each(['remarks', 'refused', 'not_offered'], S.list(S.text)),
  advice: S.said('of --advise', S.orNull(advised)),
  workload: S.object({
    file: S.text,
    ...S.each(['rate', 'connections'], S.number),
    reply_bytes: S.said('of the replies of the file, as a share of what the server sent', S.number),
    expected: S.said(
      'what a profile of the replay shows',
      S.object({
        ...S.each(['bytes_in_per_s', 'bytes_out_per_s', 'cpu_pct', 'memory_bytes', 'keys'], estimate),
        left_s: S.orNull(estimate),
      }),
    ),
    assumptions: S.list(S.text),
    left_out: S.list(S.object({ name: S.text, share: S.number, why: S.text })),
  }),
})

/** @typedef {Shaped<typeof schema>} ProfileAnswer */
/** @typedef {Shaped<typeof amounts>} Estimate */

/**
 * The answer, and the text of the workload file.
 * @param {Profile} profile
 * @param {ProfileAnswer['advice']} advice
 * @param {string} file of the workload
 * @returns {{ document: ProfileAnswer, text: string }}
 */
export const profileDocument = (profile, advice, file) => {
  const workload = workloadOf(profile)
  const { rate: perS, connections, assumptions, left_out, reply_bytes, expected } = workload
  return {
    document: {
      ...profile,
      advice,
      workload: { file, rate: perS, connections, reply_bytes, expected, assumptions, left_out },
    },
    text: workloadText(profile, workload),
  }
}

const longestName = 80
const mostRows = 50
const named = (/** @type {string} */ text) => text.slice(0, longestName)
const whole = (/** @type {number} */ n) => count(Math.round(n))

/** 12,000, or 12,000 (11,000 to 13,000). @param {(n: number) => string} words */
const between = (words) => (/** @type {Estimate | null} */ found) => {
  if (found === null) return dash
  const { value, low, high } = found
  const isSure = high - low < 0.005 * Math.max(1, value)
  return isSure ? words(value) : `${words(value)} (${words(low)} to ${words(high)})`
}

/** @template R @param {string} title @param {(row: R) => Estimate | null} of @param {(n: number) => string} [words] @param {number} [rank] @returns {Column<R>} */
const estimated = (title, of, words = whole, rank) => ({
  title,
  left: false,
  cell: (one) => between(words)(of(one)),
  sort: (one) => of(one)?.value,
  rank,
})

/** @param {(n: number) => string} words */
const orDash = (words) => (/** @type {number | null} */ n) => (n === null ? dash : words(n))

const perSecond = (/** @type {number} */ n) => `${bytes(n)}/s`

/** @template {{ bytes_in_per_s: number | null, bytes_out_per_s: number | null }} R @returns {Column<R>[]} */
const network = () => [
  figure('in', (one) => one.bytes_in_per_s, orDash(perSecond)),
  figure('out', (one) => one.bytes_out_per_s, orDash(perSecond)),
]

/** @param {number} s */
const seconds = (s) => {
  if (s >= 7200) return `${(s / 3600).toFixed(1)} h`
  return s >= 120 ? `${(s / 60).toFixed(1)} min` : `${s.toFixed(1)} s`
}

/** The most frequent first. @param {Readonly<Record<string, number>>} counts */
const namesBy = (counts) =>
  Object.entries(counts)
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name)
    .join(', ')

/** @param {ProfileAnswer} answer */
const keysTable = ({ patterns }) =>
  table(
    'Keys by memory',
    [...patterns]
      .sort((a, b) => (b.memory_bytes?.value ?? 0) - (a.memory_bytes?.value ?? 0))
      .slice(0, mostRows),
    [
      words('pattern', (one) => named(one.pattern)),
      words('type', (one) => one.type ?? 'not looked at'),
      estimated('keys', (one) => one.keys),
      estimated('memory', (one) => one.memory_bytes, bytes),
      estimated('bytes or elements', (one) => one.size, whole, 1),
      {
        title: 'time left, median',
        left: false,
        cell: ({ type, left_s: { median } }) =>
          median !== null ? seconds(median) : type === null ? dash : 'stays',
        sort: (one) => one.left_s.median,
        rank: 2,
      },
      words('encoding', (one) => namesBy(one.encodings), { rank: 3 }),
    ],
    { notes: ['Intervals are of 95 %, from the sample.'] },
  )

const timesFrom = new Map([
  [
    'LATENCY HISTOGRAM',
    'p50 and p99 are at most so much, by LATENCY HISTOGRAM in the time that was looked at.',
  ],
  ['INFO', 'p50 and p99 are those since the server started.'],
])

/** @param {ProfileAnswer} answer */
const commandsTable = ({ commands, times_from: from }) =>
  table(
    'Commands',
    commands.slice(0, mostRows),
    [
      words('command', (one) => named(one.name)),
      figure('per second', (one) => one.per_s, rate),
      figure('share', (one) => one.share, asPercent),
      figure('time of a call', (one) => one.us_per_call, micros),
      figure('p50', (one) => one.p50_us, orDash(micros)),
      figure('p99', (one) => one.p99_us, orDash(micros)),
    ],
    { notes: [from !== null && (timesFrom.get(from) ?? false)] },
  )

const logWords = { slow: 'slow', 'large-request': 'large request', 'large-reply': 'large reply' }

/** What some servers tell. @param {ProfileAnswer} answer @returns {AnswerTable[]} */
const furtherTables = ({ clients, hot_keys: hot, slots, log, key_sizes: sizes }) => [
  table('Connections', clients.groups, [
    words('name and library', (one) => named(one.name)),
    figure('connections', (one) => one.connections, count),
    figure('commands/s', (one) => one.commands_per_s, orDash(rate)),
    ...network(),
  ]),
  table(
    'Hot keys',
    hot?.patterns ?? [],
    [
      words('pattern', (one) => named(one.pattern)),
      figure('keys', (one) => one.keys, count),
      figure('CPU', (one) => one.cpu_share, orDash(asPercent)),
      figure('CPU of the hottest', (one) => one.busiest_cpu_share, orDash(asPercent)),
      figure('network', (one) => one.net_share, orDash(asPercent)),
      figure('uses/s', (one) => one.per_s, orDash(rate)),
    ],
    {
      notes: [
        `The keys that HOTKEYS named${hot?.tracked_s ? `, in ${hot.tracked_s.toFixed(0)} s` : ''}, by pattern. Commands in scripts are not among them, and a command with several keys counts for all in equal parts.`,
      ],
    },
  ),
  table(
    'Busy slots',
    slots ?? [],
    [
      figure('slot', (one) => one.slot, String),
      figure('keys', (one) => one.keys, count),
      figure('CPU of a core', (one) => one.cpu_share, orDash(asPercent)),
      ...network(),
    ],
    {
      notes: ['By CLUSTER SLOT-STATS. A server with cluster-slot-stats-enabled no counts keys alone.'],
    },
  ),
  table(
    'Slow and large commands',
    log?.groups ?? [],
    [
      words('kind', (one) => logWords[one.kind]),
      words('command', (one) => named(one.command)),
      words('pattern', (one) => named(one.pattern ?? dash)),
      figure('in the log', (one) => one.count, count),
      {
        title: 'most',
        left: false,
        cell: ({ kind, most }) => (kind === 'slow' ? micros : bytes)(most),
        sort: ({ most }) => most,
      },
    ],
    {
      notes: [
        `The last entries of ${log?.from}, which holds ${count(log?.length ?? 0)}; values are not kept.`,
      ],
    },
  ),
  table(
    'Sizes of all keys',
    sizes,
    [
      words('type', (one) => one.type),
      words('in', (one) => one.unit),
      figure('keys', (one) => one.keys, count),
      figure('median', (one) => one.median, orDash(count)),
      figure('p99', (one) => one.p99, orDash(count)),
    ],
    { notes: ['By INFO keysizes, in powers of two: at least so much.'] },
  ),
]

const signed = (/** @type {number} */ part) => `${part > 0 ? '+' : '−'}${asPercent(Math.abs(part))}`

/** @typedef {Shaped<typeof advised>['advice'][number]} Advice */
/** @param {string} title @param {(one: Advice) => Advice['cpu_us']} of @param {(n: number) => string} words @returns {Column<Advice>} */
const change = (title, of, words) => ({
  title,
  left: false,
  cell: (one) => {
    const { now, other, change } = of(one)
    return `${words(now)} to ${words(other)}: ${signed(change.value)}`
  },
  detail: (one) => `${signed(of(one).change.low)} to ${signed(of(one).change.high)}`,
  sort: (one) => of(one).change.value,
})

/** @param {Shaped<typeof advised>} found */
export const adviceTable = (found) =>
  table(
    'What costs less',
    found.advice,
    [
      words('pattern', (one) => named(one.pattern)),
      change('memory', (one) => one.memory_bytes, bytes),
      change('CPU of making and reading', (one) => one.cpu_us, micros),
      words('form', (one) => one.title, { detail: (one) => `if ${one.when}` }),
    ],
    {
      empty: 'Nothing that was played surely costs less.',
      notes: [
        ...(found.silent.length > 0
          ? [`Without a sure gain: ${count(found.silent.length)} of ${count(found.plays)} that were played.`]
          : []),
        'Of an item, in pipelines, on a local server of this machine; intervals are of 95 % for all together.',
      ],
    },
  )

/** @param {ProfileAnswer} answer */
const serverWords = ({ server: { masters, replicas, replica_addresses: addresses, versions } }) =>
  `${several(masters, 'master')} and ${several(replicas, 'replica')}${addresses.length > 0 ? ` (${addresses.slice(0, 20).join(', ')})` : ''}, version ${versions.join(', ')}`

/** @param {ProfileAnswer['clients']} clients */
const clientWords = ({ connections, groups }) =>
  `${several(connections, 'connection')}: ${groups.map((one) => `${count(one.connections)} ${one.name}`).join(', ')}`

/** @param {ProfileAnswer} answer */
const warnings = ({ remarks, refused, keys_per_s: growth, duration_s: s, keys, complete }) => {
  const changed = Math.abs(growth * s)
  return [
    ...remarks,
    refused.length > 0 && `the server refused ${refused.join(', ')}: what that says is left out`,
    // What still fills or drains has lifetimes and numbers that a replay does not end at.
    changed > keys / 20 &&
      `the number of keys changed by ${count(changed)} meanwhile: a replay ends at another number; look again when it is steady, and for longer than the keys live`,
    !complete &&
      keys > 0 &&
      'not all names were seen: patterns with few keys may be missing; a longer --duration or a larger --share sees more',
  ].filter((one) => one !== false)
}

export const profile = answer({
  kind: 'profile',
  schema,
  verdict: (/** @type {ProfileAnswer} */ one) => ({
    title: 'Profile of a server',
    question: 'Which keys are there, and which commands are sent?',
    good: !one.interrupted,
    neutral: true,
    word: one.interrupted ? 'Interrupted' : 'Seen',
    sentence: `${one.interrupted ? 'INTERRUPTED: ' : ''}${several(one.keys, 'key')} of ${several(one.patterns.length + one.patterns_left_out, 'pattern')}, and ${rate(one.commands_per_s)} commands/s, in ${one.duration_s.toFixed(0)} s`,
  }),
  highlights: (one) => ({
    commands: `${rate(one.commands_per_s)}/s`,
    keys: count(one.keys),
    data: bytes(one.memory_bytes),
  }),
  rows: (one) => ({
    servers: serverWords(one),
    'names seen': `${count(one.names_seen)}${one.complete ? ', all of them' : ' of a sample'}`,
    network: `${bytes(one.bytes_in_per_s)}/s in, ${bytes(one.bytes_out_per_s)}/s out`,
    'server CPU': `${one.cpu_pct.toFixed(1)} % of a core`,
    'keys that go': `${rate(one.expired_per_s)}/s expire, ${rate(one.evicted_per_s)}/s are evicted; ${asPercent(one.miss_ratio)} of reads find none`,
    clients: `${clientWords(one.clients)}; ${one.commands_per_read.toFixed(1)} commands a read`,
    profiling: `used ${count(one.own.commands)} commands, ${asPercent(one.own.commands_share)} of all; ${asPercent(one.own.cpu_share)} of a core, ${asPercent(one.own.server_cpu_share)} of the servers' own CPU`,
    'not offered': one.not_offered.join(', '),
    assumed: one.workload.assumptions.join(' '),
    'left out': one.workload.left_out
      .slice(0, 10)
      .map(({ name, share, why }) => `${name} (${asPercent(share)}): ${why}`)
      .join('; '),
    'replay it': `millrace replay ${one.workload.file}`,
  }),
  tables: (one) => [
    keysTable(one),
    commandsTable(one),
    ...furtherTables(one),
    one.advice && adviceTable(one.advice),
  ],
  warnings,
})
