// The names that a strategy's writers have, and which strategies have writers in batches.
import { strategyNamed, strategyNames } from '../workloads/index.js'
import { names } from './names.js'

/** @param {string} strategy */
export const namesOfWriters = (strategy) => names[strategyNamed(strategy).play.flow]

/** Strategies whose writers store batches of items, which can be compared and calibrated. */
export const strategiesInBatches = () => strategyNames().filter((name) => namesOfWriters(name).inBatches)
