// The live page of a fleet: reads a run from the control server and makes messages for the page of it, with a few commands
// a second.

import { atMost } from '../base/timers.js'
import { plainData, several } from '../base/units.js'
import { controlOf, openControl } from '../fleet/control.js'
import { statusOf } from '../fleet/status.js'
import { whoIs } from '../report/words.js'
import { disconnect } from '../servers/disconnect.js'
import { aboutOf } from './about.js'

/**
 * @import { Control, Place } from '../fleet/control.js'
 * @import { Status } from '../fleet/status.js'
 * @import { Order } from './worker.js'
 * @import { Run } from '../measures/section.js'
 */

const everyMs = 1000
const linesAtOnce = 200
const lastUpdateMs = 1000

/** A box as the page shows it. @param {Status['boxes'][number]} box */
const boxRow = ({ state, silent_s: silentS, ...box }) => ({
  name: box.host,
  state,
  last_s: box.last_s,
  role: whoIs(box),
  ...(state === 'silent' && { trouble: `silent for ${Math.round(silentS)} s` }),
  ...(state === 'lost' && { trouble: 'lost' }),
  ...(!['writing', 'reading'].includes(state) && { health: state }),
  achieved: box.achieved,
  p99_us: box.p99_us,
  cpu_pct: box.cpu_pct,
  busy_pct: box.busy_pct,
  loop_delay_ms_p99: box.loop_delay_ms_p99,
  clock_ms: box.offset_ms,
})

/** Events of boxes, for the page. */
const boxEvents = () => {
  /** @type {Map<string, string>} */
  const states = new Map()
  return (/** @type {Status} */ { boxes, elapsed_s: elapsedS }) =>
    boxes.flatMap((box) => {
      const { id, host, state } = box
      const before = states.get(id)
      states.set(id, state)
      const isNews = ['silent', 'lost', 'done'].includes(state) || before === 'silent' || before === 'lost'
      if (state === before || !isNews) return []
      const text = `${whoIs(box)} (${host}) is ${['writing', 'reading'].includes(state) ? 'back' : state}`
      return [{ at_ms: Math.round((elapsedS ?? 0) * 1000), kind: 'box', text }]
    })
}

/** The end of the run, with its verdict and the numbers of its result. @param {Control} control */
const endIn = async (control) => {
  const { sharedIn } = await import('../run/fleet-result.js')
  const { endOf } = await import('./ending.js')
  const shared = sharedIn(await control.result())
  return shared
    ? endOf(shared.document)
    : { good: false, word: 'Ended', sentence: 'the result is no longer on the control' }
}

/** @param {Status} status */
const titleOf = ({ run, writers, readers, strategy }) => {
  const whose = [writers > 0 && several(writers, 'writer'), readers > 0 && several(readers, 'reader')]
  return `Writes ${strategy} · ${[run, ...whose.filter(Boolean)].join(', ')}`
}

/** The facts that a page needs before the first second. @param {Record<string, string>} fields @param {Status} status */
const aboutFleet = (fields, status) => {
  const about = fields.about === undefined ? null : JSON.parse(fields.about)
  return about && { ...aboutOf('producer', status.run, about.plan), title: titleOf(status), box: '' }
}

/**
 * Follows a run until it has ended.
 * @param {object} needs
 * @param {Control} needs.control
 * @param {string} needs.run
 * @param {(order: Exclude<Order, 'close'>) => void} needs.tell
 */
const follower = ({ control, run, tell }) => {
  const eventsIn = boxEvents()
  let title = ''
  let next = 0
  /** Seconds that are new. @param {readonly Run[]} boxes */
  const tellSeconds = async (boxes) => {
    for (;;) {
      const texts = await control.client.lrange(control.keys.seconds, next, next + linesAtOnce - 1)
      next += texts.length
      for (const text of texts) tell({ second: plainData({ ...JSON.parse(text), boxes }) })
      if (texts.length < linesAtOnce) return
    }
  }
  /** @returns {Promise<boolean>} whether the run has ended */
  return async () => {
    const status = await statusOf(control, run)
    if (!status) return false
    // Readers may join later.
    if (title !== titleOf(status)) {
      const about = aboutFleet(await control.run(), status)
      if (about) tell({ about: plainData(about) })
      if (about) title = about.title
    }
    const boxes = plainData(status.boxes.map(boxRow))
    tell({ boxes })
    for (const event of eventsIn(status)) tell({ event: plainData(event) })
    await tellSeconds(boxes)
    if (status.refused)
      tell({ end: { good: false, word: 'Refused', sentence: String(plainData(status.refused)) } })
    else if (status.state === 'done') tell({ end: plainData(await endIn(control)) })
    return status.refused !== null || status.state === 'done'
  }
}

/**
 * Asks once a second until the run has ended.
 * @param {object} needs
 * @param {Place} needs.place of the control
 * @param {string} needs.run
 * @param {(order: Exclude<Order, 'close'>) => void} needs.tell
 * @returns ends it
 */
export const fleetFeed = async ({ place, run, tell }) => {
  const client = await openControl(place)
  const sendNew = follower({ control: controlOf(client, run), run, tell })
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let isOver = false
  /** While the control does not answer, the page shows that, and it is asked again. */
  const update = async () => {
    isOver ||= await sendNew().catch(() => false)
  }
  let underWay = update()
  const again = async () => {
    await underWay
    if (isOver) return
    timer = setTimeout(() => {
      underWay = update()
      again()
    }, everyMs)
  }
  // A page that opens now gets the current state.
  await atMost(lastUpdateMs, underWay)
  again()
  return async () => {
    clearTimeout(timer)
    // The last messages are shown as well.
    const last = underWay.then(() => (isOver ? undefined : update()))
    await atMost(lastUpdateMs, last)
    isOver = true
    clearTimeout(timer)
    disconnect(client)
  }
}
