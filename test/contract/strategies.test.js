// Every strategy with both drivers on the server that is in PATH, alone and as a cluster.
import { plainLines, strategyContract } from '../helpers/strategy-contract.js'

const common = { drivers: ['socket', 'ioredis'], lines: [plainLines], hashTtl: [''] }
strategyContract({ ...common, name: 'one server', cluster: false })
strategyContract({ ...common, name: 'a local cluster', cluster: true })
