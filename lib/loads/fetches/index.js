// Consumers that read what is there, again and again.
import { ofReaders, SECTIONS } from '../../measures/index.js'
import { names } from '../names.js'
import { readPlanOf } from './plan.js'
import { reasons, words } from './words.js'

/** @import { ReadNeeds } from './open.js' */

export const fetches = Object.freeze({
  /** @type {'consumer'} */
  document: 'consumer',
  names: names.fetches,
  plan: readPlanOf,
  open: async (/** @type {ReadNeeds} */ needs) => (await import('./open.js')).openFetches(needs),
  measures: ofReaders,
  sections: SECTIONS.consumer,
  words,
  reasons,
})
