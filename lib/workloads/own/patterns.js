// The keys of a user's model as the plan in the target names them, so that programs without its file know them:
// 'session:{n}', 'limit:{0..999}:{minute}'; '{{' and '}}' are braces.

/**
 * @import { Family, Variable } from '../declare.js'
 *
 * @typedef {{ pattern: string, type: string }} AnnouncedKey
 * @typedef {{ isItem: (n: number) => boolean, isMinute: (n: number) => boolean }} Covers
 */

const tokens = /\{\{|\}\}|\{(\w+(?:\.\.\d+)?)\}|[^{}]+/g
const number = '(0|[1-9]\\d{0,15})'

/** @param {string | Variable} part */
const textOfPart = (part) => {
  if (typeof part === 'string') return part.replaceAll('{', '{{').replaceAll('}', '}}')
  const { variable, range } = part
  if (variable === 'id') return '{1..9999999999999999}'
  if (range) return `{${range[0]}..${range[1] - 1}}`
  return variable === 'n' || variable === 'minute' ? `{${variable}}` : null
}

/** As announcements name a family; null: a part of it is no number of a known range. @param {Family} family @returns {AnnouncedKey | null} */
export const announcedKey = ({ parts, type }) => {
  const texts = parts.map(textOfPart)
  return texts.includes(null) ? null : { pattern: texts.join(''), type }
}

/** @param {string} pattern */
const piecesOf = (pattern) =>
  [...pattern.matchAll(tokens)].map(([token, variable]) => {
    if (variable !== undefined) return { variable, text: '' }
    return { variable: null, text: token === '{{' ? '{' : token === '}}' ? '}' : token }
  })

/** @param {string} variable @param {Covers} covers @returns {(n: number) => boolean} */
const domainOf = (variable, { isItem, isMinute }) => {
  if (variable === 'n') return isItem
  if (variable === 'minute') return isMinute
  const [from, to] = variable.split('..').map(Number)
  return (n) => n >= from && n <= to
}

/**
 * The type that a key of this name has by these patterns; null: none of them is of this name.
 * @param {readonly AnnouncedKey[]} keys
 * @param {string} prefix
 * @param {Covers} covers
 * @returns {(key: string) => string | null}
 */
export const typesOfPatterns = (keys, prefix, covers) => {
  const forms = keys.map(({ pattern, type }) => {
    const pieces = piecesOf(pattern)
    const literal = (/** @type {string} */ text) => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')
    const form = pieces.map(({ variable, text }) => (variable === null ? literal(text) : number)).join('')
    const domains = pieces.flatMap(({ variable }) => (variable === null ? [] : domainOf(variable, covers)))
    return { form: new RegExp(`^${literal(prefix)}${form}$`), domains, type }
  })
  return (key) => {
    for (const { form, domains, type } of forms) {
      const found = form.exec(key)
      if (found && domains.every((holds, i) => holds(Number(found[i + 1])))) return type
    }
    return null
  }
}
