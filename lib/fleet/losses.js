// Says on every box, while a run goes on, that others are lost or back.
import { boxTrouble } from '../base/box-trouble.js'
import { liveNow } from './gather.js'
import { statusOf } from './status.js'

/** @import { Control } from './control.js' */

// Every box asks: 200 of them are 200 questions a second.
const everyMs = 3000

/**
 * @param {object} needs
 * @param {Control} needs.control
 * @param {string} needs.run
 * @param {number} needs.writers
 * @param {(line: string) => void} needs.say
 */
export const lossesOf = ({ control, run, writers, say }) => {
  let before = 0
  let isUnderWay = false
  const look = async () => {
    const [{ cards, live }, ends] = await Promise.all([liveNow(control, writers), control.ends()])
    const lost = cards.filter((card) => card.agents.length > 0 && !live.includes(card) && !(card.id in ends))
    if (lost.length === before) return
    const { boxes = [] } = (await statusOf(control, run)) ?? {}
    before = lost.length
    say(boxTrouble(boxes) || 'all boxes are there again')
  }
  /** A control that is away is asked again. */
  const turn = async () => {
    if (isUnderWay) return
    isUnderWay = true
    await look().catch(() => {})
    isUnderWay = false
  }
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  return {
    begin() {
      timer ??= setInterval(turn, everyMs)
    },
    end: () => clearInterval(timer),
  }
}
