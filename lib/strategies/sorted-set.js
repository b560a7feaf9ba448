// Each value under its own key; the ids in a sorted set (or several) by time.
import { rankItems, storeItem } from './parts.js'

/** @param {import('./context.js').Context} context */
export const sortedSet = (context) => rankItems(context, context.keys.item, [storeItem(context)])
