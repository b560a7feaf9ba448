// The metrics of every node, and their statistics.

/** @typedef {{ name: string, statistic: 'Average' | 'Sum' | 'Maximum' | 'Minimum' }} Metric */

/** @param {Metric['statistic']} statistic @param {string[]} names @returns {Metric[]} */
const all = (statistic, names) => names.map((name) => ({ name, statistic }))

/** @type {readonly Metric[]} */
export const NODE_METRICS = Object.freeze([
  ...all('Average', ['CPUUtilization', 'EngineCPUUtilization']),
  ...all('Sum', ['NetworkBytesIn', 'NetworkBytesOut']),
  // Packets that the node's own allowances delayed or dropped, and other limits that it has reached.
  ...all('Sum', [
    'NetworkBandwidthInAllowanceExceeded',
    'NetworkBandwidthOutAllowanceExceeded',
    'NetworkPacketsPerSecondAllowanceExceeded',
    'NetworkConntrackAllowanceExceeded',
  ]),
  ...all('Minimum', ['CPUCreditBalance']),
  ...all('Maximum', ['TrafficManagementActive', 'DurabilityLag']),
  ...all('Sum', ['DurabilityBufferExceededErrorCount']),
  ...all('Average', ['CurrConnections']),
  ...all('Sum', ['NewConnections', 'Evictions', 'Reclaimed']),
  ...all('Average', ['BytesUsedForCache', 'DatabaseMemoryUsagePercentage', 'FreeableMemory', 'CurrItems']),
  ...all('Maximum', ['ReplicationLag', 'IsMaster']),
  ...all('Sum', [
    'GetTypeCmds',
    'SetTypeCmds',
    'KeyBasedCmds',
    'StringBasedCmds',
    'SortedSetBasedCmds',
    'ListBasedCmds',
    'SetBasedCmds',
    'HashBasedCmds',
    'HyperLogLogBasedCmds',
    'StreamBasedCmds',
    'EvalBasedCmds',
  ]),
])

/**
 * A serverless cache has no nodes that could be busy: it counts processing units and throttled commands instead.
 * @type {readonly Metric[]}
 */
export const SERVERLESS_METRICS = Object.freeze([
  ...all('Sum', ['ElastiCacheProcessingUnits', 'ThrottledCmds', 'TotalCmdsCount']),
  ...all('Average', ['SuccessfulReadRequestLatency', 'SuccessfulWriteRequestLatency']),
  ...all('Sum', ['NetworkBytesIn', 'NetworkBytesOut', 'Evictions', 'NewConnections']),
  ...all('Average', ['CurrConnections', 'BytesUsedForCache', 'CurrItems']),
])

/** Until these have points, the numbers have not settled; other metrics are published only where something happened. */
export const EXPECTED = Object.freeze({
  node: ['CPUUtilization', 'EngineCPUUtilization'],
  serverless: ['ElastiCacheProcessingUnits'],
})
