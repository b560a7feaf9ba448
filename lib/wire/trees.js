// Replies as nested arrays of texts and numbers, for commands whose replies are small. An error is an Error.
import { replyReader } from './values.js'

/** @typedef {string | number | null | Error | any[]} Reply */

/**
 * @param {(reply: Reply) => void} onReply
 * @returns {(bytes: Buffer) => void}
 */
export const treeReader = (onReply) => {
  /** @type {Reply} */
  let whole = null
  const open = /** @type {{ list: any[], left: number }[]} */ ([])

  /** @param {Reply} value */
  const put = (value) => {
    const last = open.at(-1)
    if (last === undefined) whole = value
    else {
      last.list.push(value)
      last.left--
    }
    while (open.length > 0 && open[open.length - 1].left === 0) open.pop()
  }
  const sink = {
    /** @param {number} count */
    open(count) {
      const list = /** @type {any[]} */ ([])
      put(list)
      if (count > 0) open.push({ list, left: count })
    },
    /** @param {Buffer} bytes @param {number} from @param {number} to */
    bulk: (bytes, from, to) => put(bytes.toString('latin1', from, to)),
    number: put,
    nil: () => put(null),
    /** @param {string} line */
    error: (line) => put(new Error(line)),
  }
  return replyReader({
    sink: () => sink,
    replied: () => onReply(whole),
  })
}
