// Apart from the names, which the live page loads in a browser, without the workloads.
import { strategyNamed } from '../workloads/index.js'
import { flows } from './names.js'

/** How its writer's operations meet connections. @param {string} strategy */
export const writerFlow = (strategy) => flows[strategyNamed(strategy).roles.writer.flow]
