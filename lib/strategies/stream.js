// One stream that holds ids and values and is cut to about the newest.
import { each } from './declare.js'
import { keep } from './parts.js'

// An entry that is cut off at once leaves an empty stream.
const empty = ['XADD', 'MAXLEN', 0, '*', 'id', '', 'value', '']

/** @param {import('./context.js').Context} context */
export const stream = ({ keys, value, kept, lingerS, renewal }) => [
  keep([keys.stream], lingerS, () => empty, renewal),
  each((n) => ['XADD', keys.stream, 'MAXLEN', '~', kept, '*', 'id', keys.item(n), 'value', value(n)], {
    repeatable: false,
  }),
]
