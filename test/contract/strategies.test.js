// Every strategy on the server that is in PATH, alone and as a cluster: with one driver here, and the other there. What a driver does
// with a place, whatever the strategy, readers.test.js and test/peers show.
import { plainLines, strategyContract } from '../helpers/strategy-contract.js'

const common = { drivers: ['socket', 'ioredis'], lines: [plainLines], hashTtl: [''], isAlternating: true }
strategyContract({ ...common, name: 'one server', cluster: false })
strategyContract({ ...common, name: 'a local cluster', cluster: true })
