// Requests in the order they were sent, and the replies that each is owed, in a ring that grows.
import { MillraceError } from '../base/errors.js'

const firstPlaces = 16

/**
 * A class, since a call of a closure that each of many connections has of its own was found anew.
 * @template R
 */
export class Flight {
  #mask = firstPlaces - 1
  /** @type {(R | null)[]} */
  #requests = Array(firstPlaces).fill(null)
  #owed = new Int32Array(firstPlaces)
  #leads = new Uint8Array(firstPlaces)
  #head = 0
  #tail = 0
  #replies = 0
  #left = 0

  #grow() {
    const [mask, places] = [this.#mask, 2 * (this.#mask + 1)]
    const [requests, owed, leads] = [this.#requests, this.#owed, this.#leads]
    this.#requests = Array(places).fill(null)
    this.#owed = new Int32Array(places)
    this.#leads = new Uint8Array(places)
    for (let place = this.#head; place < this.#tail; place++) {
      const [from, to] = [place & mask, place & (places - 1)]
      this.#requests[to] = requests[from]
      this.#owed[to] = owed[from]
      this.#leads[to] = leads[from]
    }
    this.#mask = places - 1
  }

  /** To come, of all. */
  get replies() {
    return this.#replies
  }
  get isEmpty() {
    return this.#head === this.#tail
  }
  /** Replies to come where the last one was taken. */
  get left() {
    return this.#left
  }

  /** @param {R} request @param {number} count @param {number} lead replies that come before its own */
  push(request, count, lead) {
    if (this.#tail - this.#head > this.#mask) this.#grow()
    const at = this.#tail++ & this.#mask
    this.#requests[at] = request
    this.#owed[at] = count
    this.#leads[at] = lead
    this.#replies += count + lead
  }

  /** Whose reply is next. */
  head() {
    if (this.#head === this.#tail)
      throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    return /** @type {R} */ (this.#requests[this.#head & this.#mask])
  }

  /** Whether the next reply precedes those of the request. */
  get isLed() {
    return this.#leads[this.#head & this.#mask] > 0
  }
  /** Takes the next reply if it precedes those of the request. */
  skips() {
    const at = this.#head & this.#mask
    if (this.#leads[at] === 0) return false
    this.#leads[at]--
    this.#replies--
    return true
  }

  /** Takes so many replies of the first request, at most; returns how many. @param {number} most */
  take(most) {
    const at = this.#head & this.#mask
    const owed = this.#owed[at]
    const n = most < owed ? most : owed
    const left = owed - n
    this.#left = left
    this.#owed[at] = left
    this.#replies -= n
    if (left === 0) {
      this.#requests[at] = null
      this.#head++
    }
    return n
  }

  /** The oldest first. */
  all() {
    /** @type {R[]} */
    const all = []
    for (let place = this.#head; place < this.#tail; place++)
      all.push(/** @type {R} */ (this.#requests[place & this.#mask]))
    return all
  }

  clear() {
    this.#requests.fill(null)
    this.#head = this.#tail = this.#replies = 0
  }
}
