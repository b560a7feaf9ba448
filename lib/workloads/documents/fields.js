// What the strategies of 'documents' read of a plan, and how many updates of each document a client has had acknowledged.
import { documentsOf } from '../query/documents.js'

/** @param {{ prefix: string, quantity: number, seed: number }} plan */
export const planFieldsOf = ({ prefix, quantity, seed }) => {
  const documents = documentsOf({ seed, count: quantity })
  /** @type {Map<number, number>} by client and document */
  const counts = new Map()
  const placeOf = (/** @type {number} */ client, /** @type {number} */ n) => client * (quantity + 1) + n
  const next = (/** @type {number} */ client, /** @type {number} */ n) =>
    1 + (counts.get(placeOf(client, n)) ?? 0)
  return {
    prefix,
    quantity,
    document: (/** @type {number} */ n) => documents.document(n),
    /** Which of a client's updates of a document is under way: the same when it is retried. */
    next,
    acked: (/** @type {number} */ client, /** @type {number} */ n) => {
      counts.set(placeOf(client, n), next(client, n))
    },
  }
}

/** @typedef {ReturnType<typeof planFieldsOf>} PlanFields */
