// Clients over all numbers, one pass after the other.
import { bytes, count, facts, micros } from '../../base/units.js'
import { playsPasses } from '../../workloads/index.js'
import { clients } from '../clients/index.js'
import { plan as clientsPlan } from '../clients/plan.js'
import { words as ofClients } from '../clients/words.js'
import { names } from '../names.js'
import { repliesRow } from '../words.js'
import { writerReasons } from '../writer-reasons.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { WriteRun } from '../../result/document.js'
 * @import { Facts } from '../plan.js'
 */

/** At a rate, the commands of its passes are played by clients. @param {Settings} settings @param {Facts} facts */
const plan = (settings, facts) => ({
  ...clientsPlan(settings, facts),
  flow: playsPasses(settings) ? /** @type {const} */ ('passes') : /** @type {const} */ ('clients'),
})

/** Rows for passes over all numbers, and for what the first of them stored. @param {WriteRun} run */
const passRows = ({ passes, encodings, plan }) => {
  if (!passes?.length) return []
  const rows = passes.map((pass) => ({
    label: pass.name,
    text: facts([
      `${count(pass.operations)} operations`,
      `${count(Math.round(pass.rate))} operations/s`,
      pass.server_cpu_us !== null && `server CPU ${micros(pass.server_cpu_us)} each, idle cost included`,
      ...Object.entries(pass.counts).map(([reply, n]) => `${reply} ${count(n)}`),
    ]),
  }))
  const [{ memory_bytes: grown }] = passes
  const kinds = Object.keys(encodings ?? {})
  return [
    ...rows,
    {
      label: 'stored',
      text: facts([
        grown === null
          ? 'memory: too little to tell; more --items show it'
          : `${bytes(grown)}, ${bytes(grown / plan.items)} each`,
        kinds.length > 0 && `encoded as ${kinds.join(', ')}`,
      ]),
    },
  ]
}

/** @param {WriteRun} run */
const brief = ({ passes, plan }) =>
  (passes ?? []).flatMap(({ name, rate, server_cpu_us: cpuUs, memory_bytes: grown }, at) => [
    {
      label: name,
      text: `${count(Math.round(rate))} operations/s${cpuUs === null ? '' : `, server CPU ${micros(cpuUs)} each`}`,
    },
    ...(at === 0 && grown !== null
      ? [{ label: 'memory', text: `${bytes(grown / plan.items)} per key, ${bytes(grown)} in all` }]
      : []),
  ])

/** @param {WriteRun} run */
const early = (run) => [...repliesRow(run), ...passRows(run)]

const words = { ...ofClients, brief, early, late: undefined }

export const passes = Object.freeze({
  ...clients,
  names: names.passes,
  plan,
  words,
  reasons: writerReasons({ behind: () => '' }),
})
