// Where the jobs are in a reply to a worker: what each is confirmed by, and its text.

/**
 * @import { JobsShape } from '../declare.js'
 *
 * @typedef {string | number | null | Error | unknown[]} Reply as lib/wire/values.js builds it
 * @typedef {{ handle: string, text: string }} Taken
 */

/** @param {string} text @returns {Taken} */
const itself = (text) => ({ handle: text, text })
/** One field. @param {[string, string[] | null]} entry @returns {Taken[]} */
const entry = ([id, fields]) => (fields === null ? [] : [{ handle: id, text: fields[1] }])

/** @type {Readonly<Record<JobsShape, (reply: any) => Taken[]>>} */
const byShape = Object.freeze({
  // BRPOP: key and element.
  popped: ([, text]) => [itself(text)],
  // BLMPOP: key and elements.
  'popped-many': ([, texts]) => texts.map(itself),
  values: (reply) => (Array.isArray(reply) ? reply.map(itself) : [itself(reply)]),
  entries: (entries) => entries.flatMap(entry),
  // XPENDING: without their texts.
  ids: (entries) => entries.map((/** @type {[string]} */ [id]) => ({ handle: id, text: '' })),
  // XREADGROUP: key and entries. One that was removed has no fields.
  'entries-by-key': ([[, entries]]) => entries.flatMap(entry),
  // XAUTOCLAIM: where the next begins, and entries.
  claimed: ([, entries]) => entries.filter((/** @type {unknown} */ one) => one !== null).flatMap(entry),
})

/** @param {JobsShape} shape @param {Reply} reply no error @returns {Taken[]} */
export const jobsIn = (shape, reply) => (reply === null ? [] : byShape[shape](reply))
