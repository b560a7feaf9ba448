// Checks every answer of a run's operations, and lets other clients change documents meanwhile.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { machineWith } from '../../base/timers.js'
import { certain } from '../../base/typed.js'
import { checkedOf } from '../../measures/queries.js'
import { latencyOf } from '../../probes/latency.js'
import { operationsOf } from '../../probes/operations.js'
import { scheduleOf } from '../../traffic/arrivals.js'
import { noTally } from '../../wire/decode.js'
import { playOnce } from './fill.js'
import { clientsFlow } from './flow.js'

/**
 * @import { Operation } from './operation.js'
 * @import { Counts } from '../../probes/ledger.js'
 * @import { Plan } from '../plan.js'
 * @import { Target } from '../../servers/open.js'
 * @import { Answers, Change, AnswerVerifier, AnswerVerdict } from '../../workloads/declare.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 *
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 *
 * @typedef {object} Needs
 * @property {Plan} plan
 * @property {Strategy} strategy
 * @property {Target} target
 * @property {() => number} clock
 * @property {() => boolean} isMeasured
 * @property {(kind: string, text: string) => void} onEvent
 */

/**
 * Updates of documents that were loaded: what became of those that were acknowledged, read back after the run.
 * @param {Omit<Parameters<typeof playOnce>[0], 'say' | 'stop'>} needs
 * @returns what counts them; null: the strategy's are not counted
 */
export const updating = (needs) => {
  const { plan, strategy, onEvent } = needs
  const updates = strategy.updates()
  if (!updates) return null
  const { read, shownIn, acked, mayLose } = updates
  let conflicts = 0
  /** @type {number | null} */
  let survived = null
  const readAll = async () => {
    let shown = 0
    const { acked: found, causes } = await playOnce(
      { ...needs, say: () => {}, stop: new AbortController().signal },
      strategy.operation(read),
      plan.items,
      () => {},
      ({ multiStep }) => {
        shown += shownIn(String(multiStep.answer()[0]))
      },
    )
    if (found < plan.items) throw new Error(`${found} of ${plan.items} were read (${causes})`)
    survived = shown
  }
  return {
    /** @param {Operation} exchange */
    done({ n, multiStep }) {
      conflicts += multiStep.conflicts()
      acked(multiStep.client, n)
    },
    read: () => readAll().catch((error) => onEvent('documents', `they could not be read: ${error.message}`)),
    /** @param {Counts} counts */
    summary: ({ acked: updates, uncertain, unsettled }) => ({
      count: plan.items,
      updates,
      // Updates without an outcome at the end may have been executed as well.
      uncertain: uncertain + unsettled,
      survived,
      lost: survived === null ? null : Math.max(0, updates - survived),
      conflicts,
      may_lose: mayLose,
    }),
  }
}

const mostExamples = 5
const shownIds = 20

/** Least, most and mean, as published tables have them. */
const extremes = () => {
  let [count, sum, min, max] = [0, 0, Number.POSITIVE_INFINITY, 0]
  return {
    /** @param {number} ms */
    add(ms) {
      count++
      sum += ms
      min = Math.min(min, ms)
      max = Math.max(max, ms)
    },
    us: () =>
      count === 0
        ? { min_us: null, avg_us: null, max_us: null }
        : { min_us: min * 1000, avg_us: (sum / count) * 1000, max_us: max * 1000 },
  }
}

/**
 * @param {Strategy} strategy
 * @param {AnswerVerifier} verifier
 * @param {(line: { query: number, ids: readonly string[] }) => void} [onAnswer]
 */
const checkedAnswers = (strategy, verifier, onAnswer = () => {}) => {
  const numberOf = strategy.numbers()
  const { matches } = certain(strategy.answers())
  const times = extremes()
  /** @type {Record<AnswerVerdict, number>} */
  const verdicts = { right: 0, wrong: 0, partial: 0 }
  /** @type {{ query: number, verdict: AnswerVerdict, ids: string[] }[]} */
  const examples = []
  let matched = 0
  return {
    /** @param {Operation} exchange @param {number} nowMs */
    check({ n, multiStep, dueMs, sentMs, measured }, nowMs) {
      const keys = multiStep.answer().map(String)
      if (measured) times.add(nowMs - dueMs)
      const verdict = verifier.verify(n, keys.map(numberOf), sentMs, nowMs)
      verdicts[verdict]++
      matched += matches(n)
      onAnswer({ query: n, ids: keys })
      if (verdict !== 'right' && examples.length < mostExamples)
        examples.push({ query: n, verdict, ids: keys.slice(0, shownIds) })
    },
    /** @param {number} documents @param {Record<string, number>} failedBy */
    summary(documents, failedBy) {
      return {
        ...checkedOf(verdicts, matched, documents),
        busy: failedBy.BUSY ?? 0,
        timeout: failedBy.TIMEOUT ?? 0,
        ...times.us(),
        examples,
      }
    },
  }
}

/** Each client has its own numbers, so that the changes of one are in order. @param {number} count @param {number} clients @param {number} seed */
const ownNumbers = (count, clients, seed) => {
  const random = xoroshiro128plus(seed ^ 0x0c1e)
  return (/** @type {number} */ _, /** @type {number} */ client) => {
    const own = Math.max(1, Math.ceil((count - client) / clients))
    return 1 + client + clients * ((random.next() >>> 0) % own)
  }
}

/**
 * Clients beside those of the run, with a ledger of their own.
 * @param {Needs} needs
 * @param {AnswerVerifier} verifier
 * @param {() => number} oldestMs when the oldest operation under way was sent
 */
const changing = async ({ plan, strategy, target, clock, isMeasured, onEvent }, verifier, oldestMs) => {
  const { updateWriters: clients, updateRateHz } = certain(plan.querying)
  const operation = strategy.beside()
  if (!operation || clients === 0) return null
  const ledger = operationsOf({ isMeasured })
  const latency = latencyOf()
  /** @type {WeakMap<Operation, Change>} */
  const changes = new WeakMap()
  let measuredMs = 0
  const flow = await clientsFlow({
    plan: { clients, pipeline: 1, cluster: plan.cluster, maxBehindMs: plan.maxBehindMs },
    operations: [operation],
    pick: () => 0,
    draw: ownNumbers(plan.items, clients, plan.seed),
    schedule:
      updateRateHz === null
        ? null
        : scheduleOf({ ...plan, durationMs: null, arrivals: 'constant', rateHz: updateRateHz }),
    target,
    ledger,
    latency,
    onSent: () => {},
    onBegun: (exchange) => changes.set(exchange, verifier.begun(exchange.n, clock())),
    onDone: (exchange, nowMs) => {
      const change = changes.get(exchange)
      if (change) verifier.written(change, nowMs)
    },
    tally: noTally(),
    machine: machineWith(clock),
    onEvent,
  })
  let isOver = false
  return {
    start: flow.start,
    watch() {
      flow.watch()
      verifier.forget(oldestMs())
    },
    /** The updates end with the run. @param {number} limitMs @param {AbortSignal} atOnce */
    async stop(limitMs, atOnce) {
      if (isOver) return
      isOver = true
      measuredMs = flow.elapsed() - plan.warmUpMs
      flow.stop()
      await flow.settle(limitMs, atOnce)
      flow.abandon()
    },
    close() {
      flow.close()
    },
    summary() {
      const result = {
        writers: clients,
        ...ledger.whole,
        failed_by: ledger.failedBy,
        rate: measuredMs > 0 ? (ledger.measured.acked * 1000) / measuredMs : null,
        latency_us: { intended: latency.intended.whole(), service: latency.service.whole() },
      }
      latency.close()
      return result
    },
  }
}

/** The parts of a run whose answers are checked; null: they are not. @param {Needs} needs */
export const queryChecksOf = (needs) => {
  const answers = needs.strategy.answers()
  if (!answers) return null
  const verifier = answers.verifier()
  const checked = checkedAnswers(needs.strategy, verifier)
  return {
    queries: verifier.queries,
    check: checked.check,
    summary: checked.summary,
    /** @param {() => number} oldestMs when the oldest operation under way was sent */
    changing: (oldestMs) => changing(needs, verifier, oldestMs),
  }
}
