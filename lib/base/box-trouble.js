// The state of the boxes of a fleet, in the same words in a terminal, on the page and in `fleet status`.
import { clockTime } from './units.js'

/**
 * `1 of 3 boxes lost since 0:10`; '' where all are there.
 * @param {readonly { state?: string, last_s?: number | null }[]} boxes last_s: end of the last second that a box has sent
 */
export const boxTrouble = (boxes) =>
  ['lost', 'silent']
    .flatMap((state) => {
      const gone = boxes.filter((box) => box.state === state)
      if (gone.length === 0) return []
      const sinceS = Math.min(...gone.map(({ last_s: lastS }) => lastS ?? 0))
      return `${gone.length} of ${boxes.length === 1 ? '1 box' : `${boxes.length} boxes`} ${state} since ${clockTime(sinceS * 1000)}`
    })
    .join(', ')
