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
