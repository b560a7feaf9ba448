// A writing run of a test's own process that nobody looks on to, and nobody stops.
import { documentWith } from '../../lib/result/facts.js'
import { writeRun } from '../../lib/run/write-run.js'

/**
 * @param {import('../../lib/loads/plan.js').Plan} plan
 * @param {import('../../lib/servers/open.js').Target} target
 * @param {Partial<import('../../lib/run/write-setup.js').WriteNeeds> & { announce?: () => Promise<unknown> }} [more]
 */
export const writeUnattended = (plan, target, more = {}) => {
  const never = new AbortController().signal
  return writeRun({
    plan,
    target,
    announce: async () => {},
    time: { now: Date.now, look: async () => [], figures: () => [] },
    others: async () => 0,
    idleCost: 'never',
    say: () => {},
    results: { interval: () => {}, event: () => {} },
    show: () => {},
    onEncoding: () => {},
    onReady: () => {},
    onEvent: () => {},
    stop: never,
    stopNow: never,
    ...more,
  })
}

/** run.json of one. @param {any} parts @param {object} about */
export const judgedRun = ({ sections, ...parts }, about) => {
  const known = { ...parts, kind: 'producer', run: 'contract', warnings: [], ...about }
  return documentWith({ schema: 1, parts: known, thresholds: [], sums: null }, sections)
}
