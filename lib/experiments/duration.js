// How long the turns of a matrix take, before any of them has run. Pure.
/**
 * @typedef {import('./matrix.js').Cell} Cell
 * @typedef {import('./matrix.js').Place} Place
 * @typedef {{ seconds: number, warmUpS: number }} Timing
 */

// From its start to its first tick, and from its last tick to its end.
const programMs = 2000
// The servers are measured for 3 to 6 s before the first write of a run of 10 s or more.
const idleMs = 4000
const idleFromMs = 10_000
// A phase begins behind the first line of its writer and ends with a whole line.
const lineMs = 1000
const serversMs = { single: 700, cluster: 5000 }

/** @param {Place} place */
const startMs = ({ cluster }) => (cluster ? serversMs.cluster : serversMs.single)

/** @param {Cell['legs'][number]} leg @param {number} runMs */
const idleOf = ({ options }, runMs) => {
  const asked = options['idle-cost'] ?? 'auto'
  return asked === 'always' || (asked === 'auto' && runMs >= idleFromMs) ? idleMs : 0
}

/** @param {Cell} cell @param {Timing} timing */
const loadMs = ({ legs, processes }, { seconds, warmUpS }) => {
  const [first] = legs
  const eachMs = (warmUpS + seconds) * 1000
  if (legs.length === 1 && !first.consumer && !first.action)
    return programMs + idleOf(first, eachMs) + eachMs + (processes > 1 ? 1500 : 0)
  return legs.reduce((sum, leg, at) => {
    const isNew = JSON.stringify(leg.options) !== JSON.stringify(legs[at - 1]?.options)
    const writerMs = isNew ? programMs + idleOf(leg, idleFromMs) + lineMs + warmUpS * 1000 : 0
    return sum + writerMs + seconds * 1000 + lineMs + (leg.consumer ? programMs : 0)
  }, 0)
}

/** How long the items of a cell live on, in ms. @param {Cell} cell */
export const restMs = ({ legs }) =>
  1000 + 1000 * Math.max(...legs.map(({ options }) => Number.parseFloat(String(options.ttl ?? 3)) || 3))

/**
 * One turn of a cell, on servers that run already unless it wants its own.
 * @param {Cell} cell
 * @param {Timing} timing
 * @param {boolean} onTarget where a turn waits until the items of the turn before have expired
 */
export const turnMs = (cell, timing, onTarget) =>
  loadMs(cell, timing) + (onTarget ? restMs(cell) : cell.place.own ? startMs(cell.place) : 0)

/** Starting the local servers of cells that share them. @param {readonly Cell[]} cells */
export const serverStartsMs = (cells) => {
  const places = new Map(
    cells.filter(({ place }) => !place.own).map(({ place }) => [JSON.stringify(place), startMs(place)]),
  )
  return [...places.values()].reduce((sum, ms) => sum + ms, 0)
}

/** 45 s, 2 min 19 s, 1 h 12 min @param {number} ms */
export const spanWords = (ms) => {
  const s = Math.round(ms / 1000)
  if (s < 60) return `${s} s`
  const minutes = Math.floor(s / 60)
  return minutes < 60 ? `${minutes} min ${s % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
