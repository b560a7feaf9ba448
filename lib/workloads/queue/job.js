// A job's text: who made it, its number, when it was due, and bytes that fill it up.
//   mk3x9z1a.1:0000000042:1763888888123456:<bytes>
// A maker is a run of a producer and the lowest number of its writers; numbers begin at 1.

export const numberWidth = 10
const dueWidth = 16

/** @param {number} startedMs of the run @param {number} writer */
export const makerName = (startedMs, writer) => `${Math.floor(startedMs).toString(36)}.${writer}`

const makerShape = /^[0-9a-z]{1,10}\.\d{1,5}$/

/** Bytes in front of what fills a job up. @param {string} maker */
export const headBytes = (maker) => maker.length + 1 + numberWidth + 1 + dueWidth + 1

/** @typedef {{ maker: string, number: number, dueUs: number }} Job */

/** What a text says of itself; null: it is no job of ours. @param {string} text @returns {Job | null} */
export const jobIn = (text) => {
  const colon = text.indexOf(':')
  if (colon < 3 || colon > 16) return null
  const maker = text.slice(0, colon)
  const number = Number(text.slice(colon + 1, colon + 1 + numberWidth))
  const dueAt = colon + 2 + numberWidth
  const dueUs = Number(text.slice(dueAt, dueAt + dueWidth))
  if (!(number >= 1 && dueUs > 0) || text[dueAt - 1] !== ':' || text[dueAt + dueWidth] !== ':') return null
  return makerShape.test(maker) ? { maker, number, dueUs } : null
}
