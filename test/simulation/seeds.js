// Plays seeds one after the other; of one that fails it finds the fewest faults that still break it.
import { describeFault } from './faults.js'
import { playOverload } from './overload.js'
import { play } from './play.js'
import { playBundles } from './play-bundles.js'
import { playClients } from './play-clients.js'
import { describeFleetFault, playFleet } from './play-fleet.js'
import { brokenIn, brokenInClients } from './properties.js'

/**
 * @import { Which } from './stage.js'
 * @import { Fault } from './faults.js'
 * @import { FleetFault } from './play-fleet.js'
 * @import { Counts } from '../../lib/probes/ledger.js'
 * @import { Played } from './play.js'
 * @import { PlayedOperations } from './play-clients.js'
 *
 * @typedef {keyof typeof plays} Simulated
 * @typedef {{ broken: string[], faults: (Fault | FleetFault)[] | null, items: Counts | null }} Seen
 */

/** @template {Played | PlayedOperations} P @param {(played: P) => string[]} brokenOf */
const seen = (brokenOf) => (/** @type {P} */ played) => ({
  ...{ broken: brokenOf(played), faults: played.faults, items: played.ledger.whole },
})

/** What is simulated, by name: a seed's play, and what is broken in it. */
export const plays = {
  socket: (/** @type {Which} */ which) => play(which).then(seen(brokenIn)),
  clients: (/** @type {Which} */ which) => playClients(which).then(seen(brokenInClients)),
  bundles: (/** @type {Which} */ which) => playBundles(which).then(seen(brokenInClients)),
  fleet: playFleet,
  overload: playOverload,
}

/** @param {Simulated} name @param {number} seed @param {number[]} [keep] which of its faults @returns {Promise<Seen>} */
export const playSeed = async (name, seed, keep) => {
  try {
    return await plays[name]({ seed, keep })
  } catch (error) {
    return { broken: [/** @type {Error} */ (error).stack ?? String(error)], faults: null, items: null }
  }
}

/** @param {any} fault of any play */
export const faultWords = (fault) => ('which' in fault ? describeFleetFault(fault) : describeFault(fault))

/** Faults are left out one by one as long as something still breaks. @param {Simulated} name @param {number} seed @param {number} count of its faults */
const shrunk = async (name, seed, count) => {
  let keep = Array.from({ length: count }, (_, i) => i)
  for (const fault of [...keep]) {
    const fewer = keep.filter((each) => each !== fault)
    if ((await playSeed(name, seed, fewer)).broken.length > 0) keep = fewer
  }
  return keep
}

const mostFaults = 6

/** What a failing seed breaks, and the line that plays it again; null when nothing breaks. @param {Simulated} name @param {number} seed */
export const failureOf = async (name, seed) => {
  const first = await playSeed(name, seed)
  if (first.broken.length === 0) return null
  const keep = await shrunk(name, seed, first.faults?.length ?? mostFaults)
  const { broken, faults } = await playSeed(name, seed, keep)
  return [
    `play it again: node scripts/simulate.js --driver ${name} --seed ${seed} --faults ${keep.join(',') || 'none'}`,
    ...(faults ?? []).map((fault) => `  ${faultWords(fault)}`),
    ...broken.map((line) => `  broken: ${line}`),
  ].join('\n')
}
