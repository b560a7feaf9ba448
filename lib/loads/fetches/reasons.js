// Why a run of consumers may not be quoted: every reason by name and what to do about it.
import { asPercent, count, percent, plainText, several } from '../../base/units.js'
import { clientLimit, clientStopped, contendedWords } from '../../measures/client-limit.js'
import { clockNote, gapsNote, notes } from '../../measures/warnings.js'
import { clockLimitMs } from '../../probes/clocks.js'

/**
 * @import { NodeFigures } from '../../result/document.js'
 * @import { Note, Warning } from '../../measures/warnings.js'
 *
 * @typedef {Record<string, any> & { nodes: NodeFigures[] }} Evidence run.json without its judgement
 */
// A tick may be late, and a few items dead while they are read.
const leastShare = 0.9

/** @param {Evidence} run @returns {Note[]} */
const nothingRead = ({ fetches, plan }) => {
  const stored = fetches.numbers.cardinality?.mean ?? 0
  const where = plan.prefix ? `prefix ${plan.prefix}` : 'no prefix'
  return [
    [
      fetches.count === 0,
      'no-fetch',
      'no fetch was completed: run for longer (--duration), or fetch less (--limit)',
      true,
    ],
    [
      fetches.count !== 0 && !(fetches.items > 0),
      'no-items',
      stored > 0
        ? `about ${count(Math.round(stored))} items are stored, but none is younger than ${plan.ttlS} s: the writer is that far behind, or has ended; see its result (-q, --max-behind), or give the --ttl it writes with`
        : `nothing was there to read: no writer of ${plan.strategy} is at work under ${where}; start one, or set --strategy, --prefix`,
      true,
    ],
  ]
}

/** @param {Evidence} run @returns {Note} */
const failures = ({ fetches: { failed, failed_by: by, count: whole } }) => {
  const causes = Object.entries(by).map(([cause, n]) => `${plainText(cause)} ${count(n)}`)
  const gone = ['CLOSED', 'CONNECT', 'UNSETTLED'].some((cause) => cause in by)
  const words = gone
    ? ': servers were gone or did not answer, see the events (local ones end with their writer)'
    : ''
  const message = `${count(failed)} of ${count(failed + whole)} fetches failed (${causes.join(', ')})${words}`
  return [failed !== 0, 'failed', message, true, { cause: Object.keys(by)[0] }]
}

/** @param {Evidence} run */
const overrunWords = ({ client, plan }) => {
  const why = {
    saturated: `this process was ${percent(client.busy_pct)} busy: read with fewer consumers here, more boxes (-t)${plan.driver === 'ioredis' ? ' or --driver socket' : ''}`,
    contended: `this process was ${contendedWords(client)}: other processes took the CPU; end them`,
    none: 'the servers or the network were not fast enough: read less (--limit) or less often (-p)',
  }
  return client.stopped_ms ? 'this process did not run' : why[clientLimit(client) ?? 'none']
}

/** @param {Evidence} run @returns {Note[]} */
const wrongValues = ({ verify, plan, fetches }) => {
  if (!verify) return []
  const { missing, corrupt, unexpected, stale, unjudged, examples } = verify
  const wrong = { missing, corrupt, unexpected, stale }
  const found = Object.entries(wrong).flatMap(([what, n]) => (n > 0 ? [`${count(n)} ${what}`] : []))
  return [
    [
      found.length > 0,
      'verify',
      `not everything read is right: ${found.join(', ')}; for example ${examples.slice(0, 3).map(plainText).join('; ')}`,
      true,
    ],
    [
      !plan.knowsBytes,
      'verify-limited',
      'the target had no plan at the start, so only the presence of values was verified, not their bytes; the options of the writer (--payload, --value-size, --seed) define them',
    ],
    [
      plan.knowsBytes && verify.checked === 0 && found.length === 0,
      'verify-nothing',
      fetches.values > 0
        ? 'no value was verified: those read may be of an earlier plan until this one is a --ttl old; run for longer (--duration)'
        : 'no value was verified: there was none to read',
      true,
    ],
    [
      unjudged > 0,
      'verify-unjudged',
      `${count(unjudged)} missing values could not be read again, so they are not judged`,
    ],
  ]
}

/** @param {Evidence} run @returns {Note[]} */
const reasonsOf = (run) => {
  const { fetches, client, clocks, plan, nodes, live } = run
  const { fetches: future, max_ms: aheadMs } = fetches.from_future ?? { fetches: 0, max_ms: 0 }
  const limit = clientLimit(client)
  return [
    ...nothingRead(run),
    failures(run),
    [
      fetches.overrun !== 0,
      'overrun',
      `${several(fetches.overrun, 'deadline')} passed while the previous fetch was still running; ${overrunWords(run)}`,
      true,
    ],
    [
      live && live.share < leastShare && fetches.items !== 0,
      'too-few',
      `fetches found about ${asPercent(live?.share)} of the ${count(Math.floor(live?.expected))} items that are alive by the writer's plan: it is behind or not all of its writers are at work (see its result, -t), or strategy ${plan.strategy} does not keep them all for ${plan.ttlS} s`,
      true,
    ],
    ...wrongValues(run),
    // A writer whose clock is ahead of the servers'.
    [
      future > 0,
      'clock-writer',
      `the newest item of ${count(future)} of ${count(fetches.count)} fetches was from up to ${(aheadMs / 1000).toFixed(1)} s in the future: the clock of its writer is ahead of the servers', so its age is unknown and not in the freshness`,
      aheadMs > clockLimitMs,
    ],
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
  ]
}

/** @type {((run: Evidence) => Warning[])[]} */
export const reasons = [
  ({ client }) => clientStopped(client),
  (run) => notes(reasonsOf(run), /** @type {any} */ (run)),
]
