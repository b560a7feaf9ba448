// Every strategy on the other servers: alone, and as a cluster of three, there over several sets. Over ioredis all of
// them on the oldest and the newest, and between these two strategies and fields with a lifetime.
import { peers } from '../../lib/servers/peers.js'
import { peer } from '../helpers/peers.js'
import { acrossLines, plainLines, strategyContract } from '../helpers/strategy-contract.js'

const withFieldExpiry = ['redis-8.2', 'valkey-9.1']

for (const { name, version } of peers) {
  /** @type {string[]} */
  const reasons = []
  const bin = peer({ skip: (reason) => reasons.push(reason) }, name)
  const common = {
    bin,
    skip: reasons[0],
    version: name.startsWith('valkey') ? `valkey ${version}` : version,
    variant: withFieldExpiry.includes(name),
    lines: [plainLines],
    hashTtl: [''],
  }
  const alone = { ...common, name, cluster: false, drivers: ['socket', 'ioredis'] }
  if (['redis-6.2', 'valkey-9.1'].includes(name)) strategyContract(alone)
  else {
    strategyContract({ ...alone, drivers: ['socket'] })
    const lines = [() => ['--strategy sorted-set', '--strategy stream -q 300']]
    strategyContract({ ...alone, name: `${name}, ioredis`, drivers: ['ioredis'], lines })
  }
  const cluster = { name: `a cluster of ${name}`, cluster: true, lines: [acrossLines] }
  strategyContract({ ...common, ...cluster, drivers: ['socket'] })
}
