// One client that sends what is due in bundles, each when the one before it was answered.

import { certain } from '../../base/typed.js'
import { count, period } from '../../base/units.js'
import { playsPasses, strategyNamed } from '../../workloads/index.js'
import { filledWords, words as ofClients } from '../clients/index.js'
import { plan as clientsPlan } from '../clients/plan.js'
import { names } from '../names.js'
import { operationsLoad } from '../operations.js'
import { undivided } from '../parts.js'
import { rhythmWords } from '../rhythm.js'
import { writingWords } from '../words.js'
import { writerReasons } from '../writer-reasons.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { Evidence } from '../writer-reasons.js'
 * @import { WriterRun } from '../ticks/open.js'
 * @import { Loaded } from '../index.js'
 * @import { Settings } from '../../../settings.js'
 * @import { Delivery } from '../../workloads/declare.js'
 */

// What a client that sends in bundles adds to the plan of clients.

/**
 * @typedef {ReturnType<typeof sendingOf>} SendingPart
 */

/** @param {Settings} settings */
const sendingOf = (settings) => {
  const { options, play } = strategyNamed(settings.strategy)
  return {
    delivery: certain(play.delivery),
    /** Most operations of a bundle. */ bundleSize: options.includes('bundleSize') ? settings.bundleSize : 1,
    delayMs: settings.delayMs ?? null,
    loseEvery: settings.loseEvery ?? null,
    /** All numbers once, in whole bundles; else what is due. */ isWhole: playsPasses(settings),
  }
}

/** @param {Settings} settings */
const plan = (settings) => {
  const ofClients = clientsPlan(settings)
  const sending = sendingOf(settings)
  /** @param {readonly number[]} numbers of the writers of this process */
  return (numbers) => {
    const own = ofClients(numbers)
    /** @type {'bundles'} */
    const flow = 'bundles'
    return { ...own, flow, clients: { ...own.clients, connections: 1 }, sending }
  }
}

/** @param {Evidence} run */
const behind = ({ plan: { sending } }) =>
  `each bundle waits for the replies to the one before it: ${sending?.delivery === 'one' ? 'counter-pipeline and counter-script send many increments at once' : 'raise --with bundle-size'}`

/** @type {Record<string, (size: string) => string>} */
const sent = {
  one: () => 'one operation at a time',
  pipeline: (size) => `pipelines of ${size} operations`,
  concurrent: (size) => `${size} calls at once, which the driver puts into pipelines`,
  call: (size) => `calls of ${size} operations each`,
  transaction: (size) => `transactions of ${size} operations`,
}

/** @param {Loaded} run */
const load = ({ plan }) => {
  const { quantity, sending, driver } = plan
  const { delivery, bundleSize, delayMs, isWhole } = sending
  const what = isWhole ? `${count(quantity)} operations` : `${rhythmWords(plan)}, what is due at once`
  const delay = delayMs === null ? '' : `, ${period(delayMs)} added to each round trip by a proxy`
  return `${what}, ${sent[delivery](count(bundleSize))}, over ${driver === 'ioredis' ? 'ioredis' : 'a plain socket'}${delay}`
}

/** @param {Plan} plan */
const planWords = (plan) => writingWords(plan, { first: [filledWords(plan)] })

const words = { ...ofClients, load, plan: planWords }

export const bundles = operationsLoad({
  names: names.bundles,
  plan,
  sharing: undivided('one client sends its bundles one after the other'),
  open: async (/** @type {WriterRun} */ run) => (await import('./open.js')).bundlesWriting(run),
  words,
  reasons: writerReasons(behind),
})
