// Documents made of a seed: 12 fields, skewed as those of a shop, with quotes, unicode and fields that are missing. Each
// is a pure function of the seed, its number and its version; a later version has another status, price and stock.

import { mix } from '../../base/random.js'
import { stepOf } from '../../base/steps.js'

/**
 * @typedef {object} Document
 * @property {number} id
 * @property {string} title
 * @property {string} customer
 * @property {string} status
 * @property {string} category
 * @property {string} country
 * @property {number} [price] in cents; missing in 1 of 50
 * @property {number} stock
 * @property {number} [rating] 1.0 to 5.0; missing in 1 of 10
 * @property {number} created epoch milliseconds, of each document another
 * @property {number} version
 * @property {string} [note] missing in 3 of 10
 *
 * @typedef {object} Columns what queries are about, by number; place 0 is not used
 * @property {Uint8Array} status
 * @property {Int32Array} price -1: missing
 * @property {Float64Array} created
 * @property {Uint8Array} rating in tenths; 0: missing
 */

/** Most documents are active. */
export const statuses = Object.freeze(['active', 'pending', 'paused', 'closed'])
const statusShares = [0.62, 0.2, 0.12, 0.06]

const colours = ['red', 'blue', 'grün', 'crème', 'black', 'white', 'grey', 'orange']
const things = [
  'lamp',
  'chair',
  'desk 19"',
  'café table',
  'shelf',
  'naïve art print',
  "carpenter's square",
  'mug',
]
const people = [
  'Zoë Müller',
  'José "Pepe" Ruiz',
  "Siobhán O'Brien",
  '山田太郎',
  'Anna Smith',
  'Łukasz Żak',
  'Иван Петров',
]
const countries = [
  'DE',
  'US',
  'FR',
  'GB',
  'PL',
  'ES',
  'IT',
  'NL',
  'JP',
  'SE',
  'CH',
  'BR',
  'IN',
  'CA',
  'AU',
  'MX',
]
const notes = [
  'call before delivery',
  'customer wrote: "leave it at the door"',
  'the text "status":"active" and "price":1 is no field',
  'backslash \\ and slash / and a tab\there',
  'two\nlines',
  'gift 🎁, 5″ × 7″ – très fragile',
  '注意: 壊れ物',
]

const firstCreatedMs = 1_700_000_000_000

/** From 0 to 1, for a document and a purpose. @param {number} seed @param {number} n @param {number} purpose */
const unit = (seed, n, purpose) =>
  mix(mix(mix(seed + 0x5bd1e995) + n) + Math.imul(purpose, 0x9e3779b9)) / 2 ** 32

/** Low places more often. @param {number} u @param {number} count */
const skewed = (u, count) => Math.floor(count * u * u * u)

/** @param {number} u */
const statusAt = (u) => {
  let left = u
  for (const [i, share] of statusShares.entries()) {
    left -= share
    if (left < 0) return i
  }
  return statuses.length - 1
}

/** Cents: half of them below 25.00, 1 in 100 above 250.00. @param {number} a @param {number} b */
const priceAt = (a, b) =>
  Math.round(2500 * Math.exp(0.99 * Math.sqrt(-2 * Math.log(1 - a)) * Math.cos(2 * Math.PI * b)))

const purposes = Object.freeze({
  title: 1,
  customer: 3,
  category: 4,
  country: 5,
  rating: 6,
  note: 8,
  unpriced: 10,
  changes: 16,
})
const changed = 5 // fields drawn anew by a version

/** @param {{ seed: number, count: number }} needs */
export const documentsOf = ({ seed, count }) => {
  const step = stepOf(count)
  const u = (/** @type {number} */ n, /** @type {number} */ purpose) => unit(seed, n, purpose)
  const changing = (/** @type {number} */ n, /** @type {number} */ version, /** @type {number} */ field) =>
    u(n, purposes.changes + changed * version + field)
  const statusOf = (/** @type {number} */ n, version = 0) => statusAt(changing(n, version, 0))
  const priceOf = (/** @type {number} */ n, version = 0) =>
    u(n, purposes.unpriced) < 0.02 ? -1 : priceAt(changing(n, version, 2), changing(n, version, 3))
  const stockOf = (/** @type {number} */ n, version = 0) => skewed(changing(n, version, 4), 1000)
  const createdOf = (/** @type {number} */ n) => firstCreatedMs + (((n - 1) * step) % count) * 1000
  // Most are satisfied.
  const ratingOf = (/** @type {number} */ n) =>
    u(n, purposes.rating + 1) < 0.1 ? 0 : 50 - skewed(u(n, purposes.rating), 41)

  /** @param {number} n @param {number} [version] @returns {Document} */
  const document = (n, version = 0) => {
    const price = priceOf(n, version)
    const rating = ratingOf(n)
    const note = u(n, purposes.note)
    return {
      id: n,
      title: `${colours[skewed(u(n, purposes.title), colours.length)]} ${things[Math.floor(u(n, purposes.title + 1) * things.length)]} #${n}`,
      customer: people[skewed(u(n, purposes.customer), people.length)],
      status: statuses[statusOf(n, version)],
      category: `category-${skewed(u(n, purposes.category), 50)}`,
      country: countries[skewed(u(n, purposes.country), countries.length)],
      ...(price >= 0 && { price }),
      stock: stockOf(n, version),
      ...(rating > 0 && { rating: rating / 10 }),
      created: createdOf(n),
      version,
      ...(note >= 0.3 && { note: notes[Math.floor(u(n, purposes.note + 1) * notes.length)] }),
    }
  }

  /** @returns {Columns} */
  const columns = () => {
    const made = {
      status: new Uint8Array(count + 1),
      price: new Int32Array(count + 1),
      created: new Float64Array(count + 1),
      rating: new Uint8Array(count + 1),
    }
    for (let n = 1; n <= count; n++) {
      made.status[n] = statusOf(n)
      made.price[n] = priceOf(n)
      made.created[n] = createdOf(n)
      made.rating[n] = ratingOf(n)
    }
    return made
  }

  return { count, document, columns, statusOf, priceOf }
}

/** @typedef {ReturnType<typeof documentsOf>} Documents */
