// What the writers of a strategy are called.
import { strategyNamed } from '../workloads/index.js'
import { names } from './names.js'

/** @param {string} strategy */
export const namesOfWriters = (strategy) => names[strategyNamed(strategy).roles.writer.flow]
