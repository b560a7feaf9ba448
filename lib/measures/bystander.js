// What another application gets while the load runs: on every master one PING each 20 ms on a connection of its own, timed
// from the moment it was due. Times in us.
import { percentileOf } from '../base/samples.js'
import { percent } from '../base/units.js'
import { pingsPath } from '../probes/others.js'
import { amount, timesField } from './fields.js'
import {
  histogram,
  measure,
  percentileMetrics,
  percentiles,
  percentilesIn,
  timesLine,
  timesText,
} from './measure.js'

/** Its path in a second and in run.json, and the metrics of it that others name. */
export const others = Object.freeze({ path: 'bystander_us', p99: 'bystander.p99', max: 'bystander.max' })

/** @template T @typedef {{ bystander_us?: T | null }} OfOthers what has it */

// A p99 above this comes from this machine.
const lateLimit = 0.01
const contendedCode = 'bystander-contended'

export const bystander = measure({
  name: 'bystander',
  of: ['writers'],
  record: { bystander_us: timesField(), [pingsPath]: amount('count') },
  by: 'one',

  async open({ masters, access, covers, elapsed, note, tap }) {
    const [{ bystanderThread }, { series }] = await Promise.all([
      import('../probes/bystander-thread.js'),
      import('../probes/latency.js'),
    ])
    const latency = series({ isFolded: true })
    let pings = 0
    const thread = bystanderThread({
      masters,
      access,
      record: (agoMs, us) => {
        pings++
        const dueMs = elapsed() - agoMs
        if (covers(dueMs)) latency.record(us)
        tap?.record('bystander_us', dueMs, us)
      },
      onFailed: ({ message }) => note('bystander', `ended by itself: ${message}`),
    })
    return {
      start: thread.start,
      second() {
        thread.collect()
        const sent = pings
        pings = 0
        return { bystander_us: latency.endSecond(), [pingsPath]: sent }
      },
      stop: thread.stop,
      warnings: () => contended(thread.lateShare()),
      close: latency.close,
    }
  },

  summary: ({ window }) => ({ bystander_us: percentilesIn(window.bystander_us) }),
  result: { bystander_us: percentiles },
  metrics: percentileMetrics('bystander', 'other clients', ['p50', 'p90', 'p99', 'max']),
  prometheus: [histogram('bystander_seconds', 'of one PING in each 20 ms to every master', 'bystander_us')],
  times: [{ name: 'PING of another client', path: 'bystander_us', unit: 'us' }],
  warningCodes: [contendedCode],
  answers: {
    brief: ({ bystander_us: found }) => ({
      label: 'other clients',
      text: pingWords(timesLine(found, 1, ['p50', 'p99', 'max'])),
    }),
    beside({ bystander_us: found, warnings = [] }) {
      const text = timesText(found)
      if (!text) return []
      // More than 1 % late PINGs may decide the p99.
      const late =
        percentileOf(found, 'p99') === null
          ? []
          : warnings.filter((/** @type {{ code: string }} */ { code }) => code === contendedCode)
      return [
        { label: 'other clients', text: `a PING of another client takes ${text}` },
        ...late.map((/** @type {{ message: string }} */ { message }) => ({ label: '', text: message })),
      ]
    },
  },
})

/** @param {string} times */
const pingWords = (times) => times && `PING ${times}`

/** @param {number} late part of the PINGs */
const contended = (late) =>
  late > lateLimit
    ? [
        {
          code: contendedCode,
          message: `${percent(late * 100)} of probes late: machine busy`,
          invalidates: false,
        },
      ]
    : []
