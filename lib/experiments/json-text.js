// JSON with the lines of its keys, for error messages. JSON.parse decides whether a text is JSON; the parser of YAML finds the
// lines, since JSON is YAML too.
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { errorOf } from '../base/errors.js'

/** @typedef {readonly (string | number)[]} Path */

/** The line on which JSON.parse stopped, as far as it reports it. @param {string} text @param {Error} error */
const faultLine = (text, { message }) =>
  text.slice(0, Number(/position (\d+)/.exec(message)?.[1] ?? text.length)).split('\n').length

/** A member's key, which may be on a line above its value, and the value. @param {unknown} node @param {string | number} part */
const childOf = (node, part) => {
  if (isSeq(node)) return { at: node.items[Number(part)], value: node.items[Number(part)] }
  const pair = isMap(node) && node.items.find(({ key }) => isScalar(key) && key.value === part)
  return pair ? { at: pair.key, value: pair.value } : null
}

/**
 * @param {string} text
 * @returns {{ value: any, fault: null, line: (path: Path) => number, twice: string[] } | { value: null, fault: string, faultLine: number }}
 *   twice: keys that an object has more than once, of which JSON.parse keeps the last without a warning
 */
export const readJson = (text) => {
  let value
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const error = errorOf(cause)
    const fault = error.message.replace(/ in JSON at position.*| \(line.*/s, '')
    return { value: null, fault, faultLine: faultLine(text, error) }
  }
  const lineCounter = new LineCounter()
  const { contents, errors } = parseDocument(text, { lineCounter, logLevel: 'silent' })
  const line = (/** @type {Path} */ path) => {
    /** @type {unknown} */
    let node = contents
    /** @type {unknown} */
    let at = contents
    for (const part of path) {
      const child = childOf(node, part)
      if (!child) break
      node = child.value
      at = child.at
    }
    return lineCounter.linePos((isNode(at) && at.range?.[0]) || 0).line
  }
  const twice = errors
    .filter(({ code }) => code === 'DUPLICATE_KEY')
    .map(({ pos: [at] }) => JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(text.slice(at))?.[0] ?? '""'))
  return { value, fault: null, line, twice }
}
