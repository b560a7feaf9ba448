// Workers that take jobs out of a queue, do and confirm them.
import { ofWorkers } from '../../measures/index.js'
import { names } from '../names.js'
import { workPlanOf } from './plan.js'
import { reasons } from './reasons.js'
import { words } from './words.js'

export const workers = Object.freeze({
  document: /** @type {const} */ ('workers'),
  names: names.workers,
  plan: workPlanOf,
  measures: ofWorkers,
  words,
  reasons,
})
