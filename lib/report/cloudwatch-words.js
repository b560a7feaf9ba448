// Words for CloudWatch's numbers of the nodes of a run.
import { count, facts, percent } from '../base/units.js'

/** @import { RunDocument as Run } from '../result/document.js' */

/** The CPU of a node's host, over all its vCPUs. @param {Run} run @param {string} address */
export const hostCpu = ({ cloudwatch }, address) =>
  cloudwatch?.nodes.find((node) => node.address === address)?.means.CPUUtilization

/** @param {Run} run */
export const hasHostCpu = ({ cloudwatch, nodes }) =>
  nodes.some(({ address }) => cloudwatch?.nodes.some((cache) => cache.address === address))

/** Caches that are no node by their address. @param {Run} run @returns {{ label: string, text: string }[]} */
export const cacheRows = ({ cloudwatch, nodes }) =>
  (cloudwatch?.nodes ?? [])
    .filter((cache) => nodes.every(({ address }) => address !== cache.address))
    .map(({ id, kind, role, means }) => ({
      label: 'CloudWatch',
      text: facts([
        `${id}${role ? ` (${role})` : ''}`,
        kind === 'node' && `CPUUtilization ${percent(means.CPUUtilization)}`,
        kind === 'node' && `EngineCPUUtilization ${percent(means.EngineCPUUtilization)}`,
        kind === 'serverless' && `${count(means.ElastiCacheProcessingUnits)} processing units a minute`,
        kind === 'serverless' && `${count(means.ThrottledCmds)} throttled commands a minute`,
      ]),
    }))

/** What CloudWatch says that a node's own limits did, by metric, and in whose words. @type {readonly (readonly [metrics: readonly string[], words: (id: string, value: number) => string])[]} */
const limits = [
  [
    ['NetworkBandwidthInAllowanceExceeded', 'NetworkBandwidthOutAllowanceExceeded'],
    (id, n) => `the network of ${id} was the limit (${count(n)} packets a minute over its bandwidth)`,
  ],
  [
    ['NetworkPacketsPerSecondAllowanceExceeded'],
    (id, n) => `the network of ${id} was the limit (${count(n)} packets a minute over its packet rate)`,
  ],
  [
    ['NetworkConntrackAllowanceExceeded'],
    (id, n) => `the network of ${id} was the limit (${count(n)} packets a minute over its connections)`,
  ],
  [['ThrottledCmds'], (id, n) => `${id} throttled ${count(n)} commands a minute`],
  [['TrafficManagementActive'], (id) => `${id} held back traffic`],
  [
    ['DurabilityBufferExceededErrorCount'],
    (id, n) => `${id} refused ${count(n)} writes a minute: its durable log was behind`,
  ],
]

/** Below it a burstable node runs at its baseline. */
const fewCredits = 1

/** The first limit that a node has reached by CloudWatch; null: none is known. @param {Pick<Run, 'cloudwatch'>} run */
export const nodeLimit = ({ cloudwatch }) => {
  for (const { id, means, points } of cloudwatch?.nodes ?? []) {
    for (const [metrics, words] of limits) {
      const value = metrics.reduce((sum, name) => sum + (means[name] ?? 0), 0)
      if (value > 0) return words(id, value)
    }
    const credits = (points.CPUCreditBalance ?? []).map(([, value]) => value)
    if (credits.length > 0 && Math.min(...credits) < fewCredits)
      return `the CPU credits of ${id} were used up`
  }
  return null
}
