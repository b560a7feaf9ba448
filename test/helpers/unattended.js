// A writing run of a test's own process that nobody looks on to, and nobody stops.
import { writeRun } from '../../lib/run/write-run.js'

/** @param {import('../../lib/plan/plan.js').Plan} plan @param {import('../../lib/target/open.js').Target} target */
export const writeUnattended = (plan, target) => {
  const never = new AbortController().signal
  return writeRun({
    plan,
    target,
    announce: async () => {},
    liveAgents: async () => [],
    idleCost: 'never',
    say: () => {},
    results: { interval: () => {}, event: () => {} },
    show: () => {},
    onEncoding: () => {},
    onReady: () => {},
    onEvent: () => {},
    stop: never,
    stopNow: never,
  })
}
