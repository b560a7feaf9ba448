// A rate that changes within one run: stretches of time with a rate each. Pure; time only increases.

/**
 * @typedef {object} Stretch
 * @property {number} fromMs after the start
 * @property {number} toMs what is due by then is begun at once or, where there is no room for it, dropped; both belong to
 *   this stretch
 * @property {number} rateHz items or operations a second of all writers here; Infinity: as fast as the servers accept them
 *
 * @typedef {ReturnType<typeof courseOf>} Course
 */

// Between rates that are known before.
const pauseMs = 50

/**
 * @param {readonly Stretch[]} [first]
 * @param {boolean} [isWhole] no others will follow
 * @param {number} [graceMs] after the end of a stretch, in which what is left of it may still begin: a pause of the box drops nothing
 */
export const courseOf = (first = [], isWhole = false, graceMs = isWhole ? pauseMs : 0) => {
  const stretches = [...first]
  /** @type {(elapsedMs: number) => boolean} */
  let hasDue = () => false
  return {
    /** @type {readonly Stretch[]} */
    stretches,
    isWhole,
    graceMs,
    /** @param {Stretch} stretch after the end of the last one */
    add(stretch) {
      stretches.push(stretch)
    },
    /** The last one; its rate is the run's. */
    last: () => stretches.at(-1),
    /** Something is due that was neither begun nor dropped. @param {number} elapsedMs */
    waits: (elapsedMs) => hasDue(elapsedMs),
    /** @param {typeof hasDue} asked of who plays it */
    playedBy(asked) {
      hasDue = asked
    },
  }
}

// The sum of two times may be later than before they were separated.
const roundingMs = 1e-6

/**
 * When the events of a course are due, one after the other.
 * @param {Course} course
 * @param {(rateHz: number) => number} spacingOf milliseconds between two events
 */
export const duesOfCourse = (course, spacingOf) => {
  let at = 0
  let k = 0
  const dues = {
    /** When the next event is due, and whether its stretch is over; null: not known yet. */
    next: (/** @type {number} */ elapsedMs) => {
      // The last stretch may become longer.
      for (; at < course.stretches.length; at++, k = 0) {
        const { fromMs, toMs, rateHz } = course.stretches[at]
        const isOpen = rateHz === Number.POSITIVE_INFINITY
        const dueMs = isOpen ? Math.max(fromMs, elapsedMs - roundingMs) : fromMs + k * spacingOf(rateHz)
        if (dueMs < toMs - 1e-6) return { dueMs, isOver: elapsedMs >= toMs + course.graceMs, isOpen }
        if (at === course.stretches.length - 1) return null
      }
      return null
    },
    /** It was begun or dropped. */
    take() {
      k++
    },
  }
  course.playedBy((elapsedMs) => {
    const event = dues.next(elapsedMs)
    return event !== null && event.dueMs <= elapsedMs
  })
  return dues
}

/** Operations of a course, asked for in order. One that does not fit is asked for again. @param {Course} course @param {number} [items] that are due together */
export const scheduleOfCourse = (course, items = 1) => {
  const dues = duesOfCourse(course, (rateHz) => (items * 1000) / rateHz)
  let taken = 0
  let askedMs = 0
  // A thread asks for some of the operations only: those between are asked for too, since a stretch may end at any of them.
  const takeUpTo = (/** @type {number} */ i) => {
    for (; taken < i; taken++) {
      dues.next(askedMs)
      dues.take()
    }
  }
  return {
    /** @param {number} i @param {number} elapsedMs */
    due: (i, elapsedMs) => {
      askedMs = elapsedMs
      takeUpTo(i)
      return dues.next(elapsedMs)?.dueMs ?? Number.POSITIVE_INFINITY
    },
    /** @param {number} i */
    isOver: (i) => {
      if (!course.isWhole) return false
      takeUpTo(i)
      return dues.next(askedMs) === null
    },
    /** @param {number} elapsedMs */
    isLeft: (elapsedMs) => dues.next(elapsedMs)?.isOver ?? false,
  }
}
