// Every strategy on the other servers: alone with both drivers, and as a cluster of three.
import { peers } from '../../lib/servers/peers.js'
import { peer } from '../helpers/peers.js'
import { plainLines, spreadLines, strategyContract } from '../helpers/strategy-contract.js'

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
    lines: [plainLines, spreadLines],
    hashTtl: [''],
  }
  strategyContract({ ...common, name, cluster: false, drivers: ['socket', 'ioredis'] })
  strategyContract({ ...common, name: `a cluster of ${name}`, cluster: true, drivers: ['socket'] })
}
