// Parts of docs/ that name what the code has: metrics, Prometheus series, key names, the rights of a user.

import { extraSetKeys, keysOf, sortedSetKeys } from '../../lib/plan/keys.js'
import { FIGURES } from '../../lib/report/figures.js'
import { metricsOf } from '../../lib/report/metrics.js'
import { planKey } from '../../lib/target/plan-key.js'

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {string[]} titles @param {string[][]} rows */
export const table = (titles, rows) =>
  [
    `| ${titles.join(' | ')} |`,
    `|${' --- |'.repeat(titles.length)}`,
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n')

const unitNames = {
  us: 'µs',
  ms: 'ms',
  pct: '%',
  bytes: 'bytes',
  mb: 'MB',
  count: 'number',
  rate: 'per second',
  ratio: 'part of 1',
}

/** Every metric of a run, by the name that thresholds, comparisons and experiments use. */
export const metricsPart = () =>
  table(
    ['metric', 'meaning', 'unit', 'better'],
    FIGURES.map(({ name, title, unit, better }) => [code(name), title, unitNames[unit], better ?? '']),
  )

/** The series of --metrics, as the registry declares them. */
export const prometheusPart = () => {
  const { registry } = metricsOf({ run: 'docs', nominalHz: null })
  const series = registry
    .getMetricsAsArray()
    .map(
      (metric) =>
        /** @type {{ name: string, help: string, type: string }} */ (/** @type {unknown} */ (metric)),
    )
  return table(
    ['series', 'type', 'meaning'],
    series.map(({ name, help, type }) => [code(name), type, help]),
  )
}

/** What follows from the options is shown with a small number of sets. */
const sets = 2

/** Keys, as the code that writes them names them. */
export const keysPart = () => {
  const plain = { prefix: '', quantity: 1, extraSets: [], taggedItems: false, buckets: 10 }
  const keys = keysOf({ ...plain, sets: sortedSetKeys('', 1, 'plain') })
  const numbered = (/** @type {(n: number) => string} */ name) => name(0).replace(/0$/, '<n>')
  const minuted = (/** @type {import('../../lib/wire/encode.js').Part[]} */ [base]) => `${base}<minute>`
  const several = (/** @type {string[]} */ names) => names.map(code).join(', ')
  return table(
    ['key', 'type', 'holds', 'written by'],
    [
      [
        code(numbered(keys.item)),
        'string',
        'the value of item n',
        'all but actual-value, hash, stream, hash-ttl',
      ],
      [
        several(sortedSetKeys('', 1, 'plain')),
        'zset',
        'ids (or values), score = ms',
        'sorted-set, actual-value, script-batch, script-item, hash',
      ],
      [several(sortedSetKeys('', sets, 'plain')), 'zset', 'item i in set i mod N', 'the same with `--ns 2`'],
      [
        several(sortedSetKeys('', sets, 'same-slot')),
        'zset',
        'the same, in one slot',
        '`--ns 2 --same-slot`',
      ],
      [
        several(sortedSetKeys('', sets, 'spread')),
        'zset',
        'the same, spread evenly over the slots',
        '`--ns 2 --spread`',
      ],
      [several(extraSetKeys('', 1)), 'zset', 'the same members again', '`--extra-sorted-sets 1`'],
      [code(keys.list), 'list', 'ids, newest last', 'list, list-hll'],
      [code(minuted(keys.minuteSet)), 'set', 'ids of a minute (epoch seconds / 60)', 'set'],
      [code(minuted(keys.minuteCount)), 'HyperLogLog', 'number of ids of a minute', 'list-hll'],
      [code(numbered(keys.hash)), 'hash', 'the value of item n', 'hash'],
      [code(keys.stream), 'stream', 'ids and values', 'stream'],
      [code(keys.bucket(0).replace(/0$/, '<bucket>')), 'hash', 'about 100 items, a field each', 'hash-ttl'],
      [code(planKey('')), 'hash', 'the plan of the run', 'every run'],
      [
        code(`${planKey('').replace('plan', 'lease')}:<load>:<writer>`),
        'string',
        'the lease of a writer',
        '`-a auto`',
      ],
    ],
  )
}

// What a user must be allowed to do: commands of the strategies and readers, and of set-up, sampling and cleanup.
const rights = [
  ['+ping', '+info', '+select', '+asking', '+readonly', '+time', '+client|setname', '+command|info'],
  ['+cluster|slots', '+cluster|nodes', '+cluster|info'],
  ['+scan', '+type', '+pttl', '+pexpire', '+expire'],
  ['+set', '+get', '+getrange', '+mget', '+setex', '+del', '+unlink'],
  ['+eval', '+evalsha', '+script|load'],
  ['+zadd', '+zcard', '+zcount', '+zmscore', '+zrangebyscore', '+zrevrange', '+zrevrangebyscore'],
  ['+zremrangebyscore', '+zrem'],
  ['+rpush', '+ltrim', '+llen', '+lrange'],
  ['+sadd', '+scard', '+smembers', '+srandmember'],
  ['+pfadd', '+pfcount'],
  ['+xadd', '+xlen', '+xrevrange'],
  ['+@hash'],
].flat()
const patterns = ['~item:*', '~latest-*', '~millrace:*']

/** The ACL line of a user for Millrace; a test runs every strategy as that user. */
export const aclPart = () =>
  [
    '```',
    `ACL SETUSER millrace on >PASSWORD resetchannels resetkeys ${patterns.join(' ')} -@all ${rights.join(' ')}`,
    '```',
  ].join('\n')
