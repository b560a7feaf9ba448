// Workers that take jobs out of a queue, do and confirm them.
import { ofWorkers, SECTIONS } from '../../measures/index.js'
import { names } from '../names.js'
import { workPlanOf } from './plan.js'
import { reasons, words } from './words.js'

/** @import { openWorkers } from './open.js' */

export const workers = Object.freeze({
  /** @type {'workers'} */
  document: 'workers',
  names: names.workers,
  plan: workPlanOf,
  open: async (/** @type {Parameters<typeof openWorkers>[0]} */ needs) =>
    (await import('./open.js')).openWorkers(needs),
  measures: ofWorkers,
  sections: SECTIONS.workers,
  words,
  reasons,
})
