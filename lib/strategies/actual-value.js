// The sorted set holds the values themselves: no keys of their own, no lifetime but the purge.
import { rankItems } from './parts.js'

/** @param {import('./context.js').Context} context */
export const actualValue = (context) => rankItems(context, context.value)
