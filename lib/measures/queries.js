// Sections of clients that query documents: what was loaded, whether answers were right, what others changed meanwhile, and
// what is left of updates.
import { percentileOf } from '../base/samples.js'
import * as S from '../base/shape.js'
import { asPercent, bytes, count, facts, micros, percent, rate, several } from '../base/units.js'
import { metric, partMetric, percentileMetrics, someTimes } from './measure.js'
import { section } from './section.js'
import { note } from './warnings.js'

/** @import { Shaped } from '../base/shape-types.js' */

/** @param {number} part @param {number} whole */
const shareOf = (part, whole) => (whole > 0 ? (part / whole) * 100 : null)

const loaded = S.object({
  keys: S.number,
  seconds: S.number,
  indexes: S.maybe(S.number),
  index_when: S.maybe(S.oneOf('before', 'after')),
  ...S.each(['data_bytes', 'index_seconds', 'index_bytes'], S.maybe(S.figure)),
})

/** @param {Shaped<typeof loaded>} load */
const indexWords = ({ indexes = 0, index_when: when, index_seconds: seconds, index_bytes: size }) => {
  const what = `${count(indexes)} ${indexes === 1 ? 'index' : 'indexes'}`
  const time = micros((seconds ?? 0) * 1e6)
  if (when === 'before') return `${what} built with them, ready ${time} later`
  return `${what} built after it in ${time}${size == null ? '' : `, ${bytes(size)}`}`
}

export const load = section('load', loaded, {
  metrics: {
    'load.seconds': metric('time to load all documents', 's'),
    'load.data_bytes': metric('memory for all documents', 'bytes'),
    'load.index_seconds': metric('time to build the indexes', 's'),
    'load.index_bytes': metric('memory for the indexes', 'bytes'),
  },
  rows: ({ keys, seconds, data_bytes: data, ...indexed }, { queries, documents }) => ({
    loaded:
      (queries || documents) &&
      facts([
        `${count(keys)} documents in ${micros(seconds * 1e6)}`,
        data != null && `${bytes(data)}, ${bytes(data / keys)} each`,
        indexed.indexes !== undefined && indexWords({ keys, seconds, ...indexed }),
      ]),
  }),
})

const checked = S.object({
  ...S.each(['checked', 'right', 'wrong', 'partial', 'busy', 'timeout'], S.number),
  ...S.each(['selectivity', 'min_us', 'avg_us', 'max_us'], S.maybe(S.figure)),
  examples: S.maybe(
    S.list(S.object({ query: S.whole, verdict: S.oneOf('wrong', 'partial'), ids: S.list(S.text) })),
  ),
})

/** @param {Shaped<typeof checked>} own @param {number} offered */
const answerWords = (own, offered) => {
  const { checked: n, right, wrong, partial, busy, timeout } = own
  return facts([
    `${count(n)} checked`,
    right === n && n > 0 ? 'all right' : `${count(right)} right`,
    wrong > 0 && `${count(wrong)} wrong`,
    partial > 0 && `${count(partial)} partial`,
    busy > 0 && `${count(busy)} BUSY (${percent(shareOf(busy, offered))})`,
    timeout > 0 && `${count(timeout)} timed out (${percent(shareOf(timeout, offered))})`,
    own.selectivity != null && `${asPercent(own.selectivity)} of the documents match`,
  ])
}

/** What was asked, of how many documents. @param {{ selectivity: number, sortBy: string }} own of a plan @param {number} documents */
export const askedWords = ({ selectivity, sortBy }, documents) =>
  `${asPercent(selectivity)} of ${count(documents)} documents, sorted by ${sortBy}`

/**
 * Verdicts on answers, as run.json has them.
 * @template {Record<'right' | 'wrong' | 'partial', number>} V
 * @param {V} verdicts
 * @param {number} matched documents that all of these queries match
 * @param {number} documents
 */
export const checkedOf = (verdicts, matched, documents) => {
  const n = verdicts.right + verdicts.wrong + verdicts.partial
  return { checked: n, ...verdicts, selectivity: n === 0 ? null : matched / n / documents }
}

/** Answers that were checked against the same query over the same documents. */
export const queries = section('queries', checked, {
  metrics: {
    'queries.min': metric('shortest query', 'us'),
    'queries.avg': metric('query on average', 'us'),
    'queries.max': metric('longest query', 'us'),
    'queries.wrong': metric('wrong answers', 'count'),
    'queries.partial': metric('partial answers', 'count'),
    'queries.selectivity': partMetric('share of documents that match', 'ratio', 'neither'),
    'queries.busy_pct': {
      ...partMetric('queries that failed: BUSY', 'pct'),
      axis: '% of queries',
      value: ({ busy }, { items }) => shareOf(busy, items.offered),
    },
    'queries.timeout_pct': {
      ...partMetric('queries that failed: timeout', 'pct'),
      axis: '% of queries',
      value: ({ timeout }, { items }) => shareOf(timeout, items.offered),
    },
  },
  rows: (own, { items }) => ({
    answers: answerWords(own, items.offered),
    'query time':
      own.avg_us != null && `min ${micros(own.min_us)}, avg ${micros(own.avg_us)}, max ${micros(own.max_us)}`,
  }),
  brief: (own, { items }) => ({ answers: answerWords(own, items.offered) }),
  reasons: ({ checked, wrong, partial, examples = [] }) => {
    const first = examples[0] ? `, first that of query ${examples[0].query}` : ''
    const of = `of ${count(checked)} answers are`
    return {
      'wrong-answers':
        wrong > 0 &&
        `${count(wrong)} ${of} wrong${first}: they have documents that do not match, or another order; documents that an earlier run left are removed by millrace cleanup`,
      'partial-answers':
        partial > 0 && `${count(partial)} ${of} partial${first}: documents that match are missing`,
      'no-answers':
        checked === 0 &&
        'no query was answered: run for longer (--duration), or give it more time (--with query-timeout)',
    }
  },
})

// As a part of the updates that were asked for.
const leastShare = 0.99
const times = S.nullable(someTimes)

/** What other clients changed meanwhile. */
export const updates = section(
  'updates',
  S.object({
    ...S.each(['writers', 'offered', 'acked'], S.number),
    rate: S.maybe(S.figure),
    failed_by: S.byName(S.number),
    latency_us: S.maybe(S.object({ intended: times, service: times })),
  }),
  {
    metrics: {
      'updates.rate': metric('updates beside the queries', 'rate', 'more'),
      ...percentileMetrics('updates.latency.service', 'update beside the queries', ['p50', 'p99', 'max']),
    },
    rows: ({ writers, acked, offered, rate: hz, latency_us: latency }) => {
      const [p50, p99] = [percentileOf(latency?.service, 'p50'), percentileOf(latency?.service, 'p99')]
      return {
        updates: facts([
          several(writers, 'writer'),
          `${count(acked)} updates${acked < offered ? ` of ${count(offered)}` : ''}`,
          hz != null && `${rate(hz)}/s`,
          p50 !== null && `p50 ${micros(p50)}`,
          p99 !== null && `p99 ${micros(p99)}`,
        ]),
      }
    },
    reasons: ({ rate: hz, offered, acked }, { plan: { querying } }) => ({
      'update-rate':
        (hz ?? 0) < leastShare * (querying.updateRateHz ?? 0) &&
        `only ${rate(hz ?? 0)} of ${rate(querying.updateRateHz)} updates/s came through: raise --with update-writers, or lower --with update-rate`,
      updates:
        acked < offered && `${count(offered - acked)} of ${count(offered)} updates were not acknowledged`,
    }),
  },
)

/** What became of updates that were acknowledged. */
export const documents = section(
  'documents',
  S.object({
    ...S.each(['count', 'updates', 'uncertain', 'conflicts'], S.number),
    ...S.each(['survived', 'lost'], S.maybe(S.figure)),
    may_lose: S.flag,
  }),
  {
    metrics: {
      'documents.lost': metric('updates lost', 'count'),
      'documents.conflicts': metric('transactions not executed', 'count'),
      'documents.lost_pct': {
        ...partMetric('updates lost', 'pct'),
        axis: '% of updates',
        value: ({ lost, updates }) => (lost == null ? null : shareOf(lost, updates)),
      },
      'documents.conflicts_pct': {
        ...metric('conflicts per update', 'pct'),
        axis: '% of updates',
        value: ({ conflicts, updates }) => shareOf(conflicts, updates),
      },
    },
    rows: ({ updates, uncertain, survived, lost, conflicts }) => {
      const gone = lost
        ? `${uncertain > 0 ? 'at least ' : ''}${count(lost)} lost (${percent((lost / updates) * 100)})`
        : 'none lost'
      return {
        updates: facts([
          `${count(updates)} acknowledged`,
          survived == null ? 'the documents could not be read' : gone,
          conflicts > 0 && `${count(conflicts)} transactions not executed, and tried again`,
        ]),
      }
    },
    reasons: ({ updates, uncertain, survived = null, lost, may_lose: mayLose }) => {
      const ofUpdates = `${count(lost ?? 0)} of ${count(updates)} updates that were acknowledged`
      return {
        'documents-unread':
          survived === null &&
          'the documents could not be read after the run, so the updates lost are not known',
        'foreign-updates':
          survived !== null &&
          survived > updates + uncertain &&
          `the documents show ${count(survived)} updates, but only ${count(updates + uncertain)} can be of this run: another program writes there; choose another --prefix`,
        'lost-updates':
          (lost ?? 0) > 0 &&
          note(
            mayLose
              ? `${ofUpdates} are gone: another writer had read the document before them and wrote it after them`
              : `${ofUpdates} are not in the documents, although no writer overwrites those of others: the servers lost them (a failover, an eviction), or another program writes there`,
            !mayLose,
          ),
      }
    },
  },
)

/** In the order of run.json, of the rows and of the reasons. */
export const ofQueries = Object.freeze([load, queries, updates, documents])
