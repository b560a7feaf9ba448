// The rate of a run: what its schedule asked for, what it achieved, and what consumers read.
import * as S from '../base/shape.js'
import { section } from './section.js'

const shape = S.object(S.each(['nominal', 'achieved', 'items', 'value_bytes'], S.maybe(S.figure)))

export const rate = section('rate', shape, {})
