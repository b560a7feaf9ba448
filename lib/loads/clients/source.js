// The source behind a cache: answers after a time, and so many at once; the rest waits in order.
import { timesIn } from '../../traffic/times.js'
import { fifo } from '../../transport/fifo.js'

/** @import { Machine } from '../../base/timers.js' */

/**
 * @template T
 * @param {object} needs
 * @param {string} needs.missTime
 * @param {number | null} needs.missConcurrency null: all at once
 * @param {(one: T) => void} needs.onRead
 * @param {Pick<Machine, 'random' | 'timers'>} needs.machine
 */
export const sourceOf = ({ missTime, missConcurrency, onRead, machine: { random, timers } }) => {
  const time = timesIn(missTime)
  if (!time) throw new TypeError(`no time: ${missTime}`)
  const most = missConcurrency ?? Number.POSITIVE_INFINITY
  /** @type {Set<T>} */
  const reading = new Set()
  /** @type {ReturnType<typeof fifo<T>>} */
  const waiting = fifo()
  let ended = false

  const read = (/** @type {T} */ one) => {
    if (ended) return
    if (reading.size >= most) {
      waiting.push(one)
      return
    }
    if (time.meanMs === 0 && most === Number.POSITIVE_INFINITY) return onRead(one)
    reading.add(one)
    timers.setTimeout(answered, time.draw(random), one)
  }
  const answered = (/** @type {T} */ one) => {
    if (!reading.delete(one)) return
    onRead(one)
    const next = waiting.first()
    if (next === undefined || ended) return
    waiting.shift()
    read(next)
  }
  return {
    read,
    /** It answers no more; returns what it had not answered. */
    end() {
      ended = true
      const left = [...reading, ...waiting.takeAll()]
      reading.clear()
      return left
    },
  }
}
