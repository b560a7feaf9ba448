// The formulas of staffing.js against random draws: how often simulated nodes really overflow. Pure, with a seed.
import { normals } from '../base/random.js'
import { capacityOf } from './staffing.js'

/** @import { Load } from './staffing.js' */

/**
 * @param {Load} load rho of at least 0: the loads share one factor
 * @param {number} margin
 * @param {{ draws: number, seed: number }} options
 */
export const simulated = (load, margin, { draws, seed }) => {
  const { nodes, mean, sd, rho } = load
  const next = normals(seed)
  const [shared, own] = [Math.sqrt(rho), Math.sqrt(1 - rho)]
  const room = mean + margin * sd
  const { single } = capacityOf(load, margin)
  let nodesOver = 0
  let anyOver = 0
  let singleOver = 0
  let sumOfSums = 0
  let sumOfSquares = 0
  for (let draw = 0; draw < draws; draw++) {
    const factor = rho > 0 ? shared * next() : 0
    let above = 0
    let total = 0
    for (let node = 0; node < nodes; node++) {
      const value = mean + sd * (factor + own * next())
      total += value
      if (value > room) above++
    }
    nodesOver += above
    if (above > 0) anyOver++
    if (total > single) singleOver++
    const apart = total - nodes * mean
    sumOfSums += apart
    sumOfSquares += apart * apart
  }
  return {
    draws,
    node: nodesOver / (draws * nodes),
    any: anyOver / draws,
    single: singleOver / draws,
    sumSd: Math.sqrt(sumOfSquares / draws - (sumOfSums / draws) ** 2),
  }
}
