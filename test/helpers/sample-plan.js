// Settings and plans for tests: the defaults, small and quick, and what a test changes.
import assert from 'node:assert/strict'
import { planOf } from '../../lib/loads/plan.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { announcementOf } from '../../lib/plan/announcement.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { OPTIONS } from '../../settings.js'

/** @import { Program, Settings } from '../../settings.js' */
/** @import { Facts } from '../../lib/loads/plan.js' */

const defaults = /** @type {Settings} */ ({
  ...readSettings({ program: 'producer', argv: [], env: {} }),
  ...{ quantity: 100, valueBytes: 16, idleCost: 'never', report: false },
  guard: { evicted: null, memoryPct: null, lagBytes: null },
})

/** @param {Partial<Settings>} [changes] @returns {Settings} */
export const sampleSettings = (changes = {}) => ({ ...defaults, ...changes })

/** @param {Partial<Settings>} [settings] @param {Partial<Facts>} [facts] */
export const samplePlan = (settings, facts) =>
  planOf(sampleSettings(settings), { agents: [1], masters: 1, cluster: false, variant: null, ...facts })

/** The settings of a line of options, which is split at blanks. @param {string} line @param {Program} [program] @param {NodeJS.ProcessEnv} [env] @returns {any} */
export const settingsOf = (line, program = 'producer', env = {}) => {
  const settings = readSettings({ program, argv: line.split(' ').filter(Boolean), env })
  assert.ok('given' in settings, 'it prints a help')
  return settings
}

/** A plan that is announced as begun and renewed then. @param {Partial<Settings> | undefined} settings @param {{ startedMs: number, renewedMs?: number, ended?: boolean }} times @param {Partial<Facts>} [facts] */
export const announcedPlan = (settings, times, facts) => ({
  ...announcementOf(samplePlan(settings, facts), '0.1.0'),
  ...{ renewedMs: times.startedMs, ended: false, ...times },
})

const choices = OPTIONS.find(({ name }) => name === 'strategy')?.choices ?? []
/** Strategies of Millrace: tests in the same process declare own ones. @param {Parameters<typeof strategyNames>[0]} [flow] */
export const builtInNames = (flow) => strategyNames(flow).filter((name) => choices.includes(name))
