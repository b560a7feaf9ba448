// Topology changes and faults under the load of the driver on ioredis.
import { topologyTests } from '../helpers/topology-tests.js'

topologyTests('ioredis')
