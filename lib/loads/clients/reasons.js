// Why a run of clients may not be quoted: answers that are wrong, and updates that are lost.
import { ofQueries } from '../../measures/queries.js'
import { writerReasons } from '../writer-reasons.js'
import { behind } from './in-flight.js'

export const reasons = writerReasons({ behind, own: ofQueries.map(({ reasons }) => reasons) })
