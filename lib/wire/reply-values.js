// RESP2 replies as values, for the few replies that are needed as a whole.
import { replyReader } from './values.js'

/** @typedef {string | number | null | Error | Value[]} Value an Error: an element that was refused */

/**
 * Takes the bytes of a connection as they come.
 * @param {{ replied: (value: Value) => void, refused: (line: string) => void }} listener
 */
export const replyValues = ({ replied, refused }) => {
  /** @type {Value} */
  let whole = null
  /** @type {string | null} */
  let refusal = null
  const open = /** @type {{ list: Value[], count: number }[]} */ ([])
  const add = (/** @type {Value} */ value) => {
    const inner = open.at(-1)
    if (!inner) whole = value
    else inner.list.push(value)
    while (open.length > 0 && /** @type {any} */ (open.at(-1)).list.length === open.at(-1)?.count) {
      const { list } = /** @type {{ list: Value[] }} */ (open.pop())
      const outer = open.at(-1)
      if (!outer) whole = list
      else outer.list.push(list)
    }
  }
  const sink = {
    open: (/** @type {number} */ count) => {
      if (count === 0) add([])
      else open.push({ list: [], count })
    },
    bulk: (/** @type {Buffer} */ bytes, /** @type {number} */ from, /** @type {number} */ to) =>
      add(bytes.toString('utf8', from, to)),
    number: add,
    nil: () => add(null),
    error: (/** @type {string} */ line) => {
      if (open.length > 0) add(new Error(line))
      else refusal = line
    },
  }
  return replyReader({
    sink: () => sink,
    replied() {
      const line = refusal
      refusal = null
      if (line !== null) refused(line)
      else replied(whole)
    },
  })
}
