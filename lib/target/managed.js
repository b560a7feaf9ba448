// Services that change a cluster only by their own commands: which one to type, and how to see that it is done.

/**
 * @typedef {'move' | 'add-shard' | 'remove-shard' | 'failover'} Change
 * @typedef {{ masters: readonly string[], owners: Uint16Array | null }} Topology
 */

/**
 * The replication group in a host name of ElastiCache: `clustercfg.GROUP.x.use1.cache.amazonaws.com`,
 * `GROUP.x.clustercfg.use1...`, `GROUP-0001-001.GROUP.x.use1...`.
 * @param {string} host
 */
export const groupIn = (host) => {
  if (!/\.cache\.amazonaws\.com(\.cn)?$/.test(host)) return null
  const labels = host.split('.')
  return labels[0] === 'clustercfg' ? labels[1] : labels[0].replace(/(-\d{4})?-\d{3}$/, '')
}

/**
 * The line to type where the servers refuse the change.
 * @param {Change} change
 * @param {{ host: string, shards: number, shard: number | null }} what shard: its number, where one was named
 */
export const providerCommand = (change, { host, shards, shard }) => {
  const group = groupIn(host) ?? 'GROUP'
  const named = String(shard ?? 1).padStart(4, '0')
  if (change === 'failover')
    return `aws elasticache test-failover --replication-group-id ${group} --node-group-id ${named}`
  const wanted = shards + { move: 0, 'add-shard': 1, 'remove-shard': -1 }[change]
  return [
    'aws elasticache modify-replication-group-shard-configuration',
    `--replication-group-id ${group} --node-group-count ${wanted}`,
    ...(change === 'remove-shard'
      ? [`--node-groups-to-remove ${shard === null ? String(shards).padStart(4, '0') : named}`]
      : []),
    '--apply-immediately',
  ].join(' ')
}

/** Slots that have another owner than before. @param {Topology} before @param {Topology} now */
export const slotsChanged = (before, now) => {
  const { owners } = before
  const { owners: next } = now
  if (!owners || !next) return 0
  return owners.reduce(
    (sum, owner, slot) => sum + Number(before.masters[owner] !== now.masters[next[slot]]),
    0,
  )
}

/**
 * Whether what was asked for has come about.
 * @param {Change} change
 * @param {Topology} before
 * @param {Topology} now
 */
export const isDone = (change, before, now) => {
  if (change === 'add-shard') return now.masters.length > before.masters.length
  if (change === 'remove-shard') return now.masters.length < before.masters.length
  if (change === 'failover') return now.masters.some((address) => !before.masters.includes(address))
  return slotsChanged(before, now) > 0
}
