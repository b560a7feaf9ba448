// A writing run in the process of a test, without a screen and a signal: its settings, target, plan and result.
import { documentWith } from '../../lib/result/facts.js'
import { plansOnTarget } from '../../lib/run/facts.js'
import { writeRun } from '../../lib/run/write-run.js'
import { openTarget } from '../../lib/servers/open.js'
import { settingsOf as linedSettings, sampleSettings } from './sample-plan.js'
/** @import { Scope } from './servers.js' */
/** @import { Settings } from '../../settings.js' */
/** @import { Target } from '../../lib/servers/open.js' */
/** @import { Plan } from '../../lib/loads/plan.js' */
/** @import { WriteNeeds } from '../../lib/run/write-run.js' */

/** Of a line of options. @param {string} line @param {boolean} [cluster] @param {'producer' | 'consumer'} [program] */
export const settingsOf = (line, cluster = false, program = 'producer') => {
  const place = line.includes('--host') ? '' : '--host 127.0.0.1'
  return linedSettings(`${line} ${place} ${cluster ? '--cluster' : ''}`, program)
}

/** A target that is closed with the scope. @param {Scope} scope @param {{ host: string, port: number, password: string }} server @param {boolean} [cluster] */
export const openedTarget = async (scope, { host, port, password }, cluster = false) => {
  const target = await openTarget(sampleSettings({ host, port, password, cluster }), { say: () => {} })
  scope.after(() => target.close())
  return target
}

/** @param {Settings} settings @param {Target} target @param {number[]} [agents] */
export const planOn = async (settings, target, agents = [1]) =>
  (await plansOnTarget(settings, target))(agents)

/** @param {Plan} plan @param {Target} target @param {Partial<WriteNeeds> & Partial<WriteNeeds['office']>} [more] */
export const writeUnattended = (plan, target, more = {}) => {
  const never = new AbortController().signal
  const { announce = async () => {}, otherWriters = async () => 0, begin = async () => {} } = more
  return writeRun({
    plan,
    target,
    office: { announce, otherWriters, begin, earliest: async () => null },
    idleCost: 'never',
    say: () => {},
    time: { now: Date.now, check: async () => [], figures: () => [] },
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
