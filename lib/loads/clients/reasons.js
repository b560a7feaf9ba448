// Why a run of clients may not be quoted: answers that are wrong, and updates that are lost.
import { sectionsOfClients } from '../../measures/index.js'
import { writerReasons } from '../writer-reasons.js'
import { behind } from './in-flight.js'

export const reasons = writerReasons({
  behind,
  own: sectionsOfClients.map(({ reasons }) => reasons),
})
