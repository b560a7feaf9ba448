// One stream that holds ids and values and is cut to about the newest.
import { each } from './declare.js'
import { expire } from './parts.js'

/** @param {import('./context.js').Context} context */
export const stream = ({ keys, value, quantity, lingerS }) => [
  each((n) => ['XADD', keys.stream, 'MAXLEN', '~', quantity, '*', 'id', keys.item(n), 'value', value(n)], {
    repeatable: false,
  }),
  expire([keys.stream], lingerS, { everyMs: 10_000 }),
]
