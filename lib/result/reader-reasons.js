// Why a run of consumers may not be quoted: every reason by name and what to do about it.
import { count, percent, plainText, several, share } from '../base/units.js'
import { clockLimitMs } from '../measure/clocks.js'
import { clientLimit, clientStopped, contendedWords } from '../measures/client-limit.js'
import { clockNote, gapsNote, notes } from './warnings.js'

/**
 * @import { NodeFigures } from './document.js'
 * @import { Warning } from './warnings.js'
 *
 * @typedef {Record<string, any> & { nodes: NodeFigures[] }} Evidence run.json without its judgement
 */
// A tick may be late, and a few items dead while they are read.
const leastShare = 0.9

/** @param {Evidence} run @returns {Warning[]} */
const nothingRead = ({ fetches, plan }) => {
  if (fetches.count === 0)
    return [
      {
        code: 'no-fetch',
        message: 'no fetch was completed: run for longer (--duration), or fetch less (--limit)',
      },
    ]
  if (fetches.items > 0) return []
  const stored = fetches.numbers.cardinality?.mean ?? 0
  if (stored > 0)
    return [
      {
        code: 'no-items',
        message: `about ${count(Math.round(stored))} items are stored, but none is younger than ${plan.ttlS} s: the writer is that far behind, or has ended; see its result (-q, --max-behind), or give the --ttl it writes with`,
      },
    ]
  return [
    {
      code: 'no-items',
      message: `nothing was there to read: no writer of ${plan.strategy} is at work under ${plan.prefix ? `prefix ${plan.prefix}` : 'no prefix'}; start one, or set --strategy, --prefix`,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const failures = ({ fetches }) => {
  if (fetches.failed === 0) return []
  const causes = Object.entries(fetches.failed_by).map(([cause, n]) => `${plainText(cause)} ${count(n)}`)
  const gone = ['CLOSED', 'CONNECT', 'UNSETTLED'].some((cause) => cause in fetches.failed_by)
  const words = gone
    ? ': servers were gone or did not answer, see the events (local ones end with their writer)'
    : ''
  return [
    {
      code: 'failed',
      message: `${count(fetches.failed)} of ${count(fetches.failed + fetches.count)} fetches failed (${causes.join(', ')})${words}`,
      cause: Object.keys(fetches.failed_by)[0],
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const overruns = ({ fetches, client, plan }) => {
  if (fetches.overrun === 0) return []
  const why = {
    saturated: `this process was ${percent(client.busy_pct)} busy: read with fewer consumers here, more boxes (-t)${plan.driver === 'ioredis' ? ' or --driver socket' : ''}`,
    contended: `this process was ${contendedWords(client)}: other processes took the CPU; end them`,
    none: 'the servers or the network were not fast enough: read less (--limit) or less often (-p)',
  }
  const own = client.stopped_ms ? 'this process did not run' : why[clientLimit(client) ?? 'none']
  return [
    {
      code: 'overrun',
      message: `${several(fetches.overrun, 'deadline')} passed while the previous fetch was still running; ${own}`,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const tooFew = ({ live, fetches, plan }) => {
  if (!live || live.share >= leastShare || fetches.items === 0) return []
  return [
    {
      code: 'too-few',
      message: `fetches found about ${share(live.share)} of the ${count(Math.floor(live.expected))} items that are alive by the writer's plan: it is behind or not all of its writers are at work (see its result, -t), or strategy ${plan.strategy} does not keep them all for ${plan.ttlS} s`,
    },
  ]
}

/** @param {Evidence} run @returns {Warning[]} */
const wrongValues = ({ verify, plan, fetches }) => {
  if (!verify) return []
  const { missing, corrupt, unexpected, stale, unjudged, examples } = verify
  const wrong = { missing, corrupt, unexpected, stale }
  const found = Object.entries(wrong).filter(([, n]) => n > 0)
  /** @type {Warning[]} */
  const warnings = []
  if (found.length > 0)
    warnings.push({
      code: 'verify',
      message: `not everything read is right: ${found.map(([what, n]) => `${count(n)} ${what}`).join(', ')}; for example ${examples.slice(0, 3).map(plainText).join('; ')}`,
    })
  if (!plan.knowsBytes)
    warnings.push({
      code: 'verify-limited',
      message:
        'the target had no plan at the start, so only the presence of values was verified, not their bytes; the options of the writer (--payload, --value-size, --seed) define them',
      invalidates: false,
    })
  else if (verify.checked === 0 && found.length === 0)
    warnings.push({
      code: 'verify-nothing',
      message:
        fetches.values > 0
          ? 'no value was verified: those read may be of an earlier plan until this one is a --ttl old; run for longer (--duration)'
          : 'no value was verified: there was none to read',
    })
  if (unjudged > 0)
    warnings.push({
      code: 'verify-unjudged',
      message: `${count(unjudged)} missing values could not be read again, so they are not judged`,
      invalidates: false,
    })
  return warnings
}

/** A writer whose clock is ahead of the servers'. @param {Evidence} run @returns {Warning[]} */
const fromFuture = ({ fetches: { count: all, from_future: future } }) =>
  future
    ? [
        {
          code: 'clock-writer',
          message: `the newest item of ${count(future.fetches)} of ${count(all)} fetches was from up to ${(future.max_ms / 1000).toFixed(1)} s in the future: the clock of its writer is ahead of the servers', so its age is unknown and not in the freshness`,
          invalidates: future.max_ms > clockLimitMs,
        },
      ]
    : []

/** @param {Evidence} run @returns {Warning[]} */
const observations = (run) => {
  const { fetches, client, clocks, plan, nodes } = run
  const limit = clientLimit(client)
  const rows = /** @type {Parameters<typeof notes>[0]} */ ([
    [
      limit === 'saturated' && fetches.overrun === 0,
      'client-saturated',
      `this process was ${percent(client.busy_pct)} busy: the times of the fetches are its own as much as the servers'`,
    ],
    [
      limit === 'contended' && fetches.overrun === 0,
      'client-contended',
      `this process was ${contendedWords(client)}: other processes took the CPU, and the times of the fetches hold how long it waited for it`,
    ],
    clockNote(clocks, 'cut-offs are'),
    [
      plan.values && !plan.verify && fetches.nils > fetches.items / 10,
      'nils',
      `${count(fetches.nils)} of ${count(fetches.items)} ids had no value any more; --verify shows why`,
    ],
    gapsNote(nodes),
  ])
  return notes(rows, /** @type {any} */ (run))
}

export const readerReasons = [
  (/** @type {Evidence} */ { client }) => clientStopped(client),
  nothingRead,
  failures,
  overruns,
  tooFew,
  wrongValues,
  fromFuture,
  observations,
]
