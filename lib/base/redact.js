// Removes secrets from text and data, in every spelling in which a server, a library or JSON may return them.
import { setOwn } from './typed.js'
import { plainText } from './units.js'

const instead = '***'
// Shorter secrets cannot be distinguished from words and numbers of our own.
const shortest = 4
// A secret of at least this length is found anywhere, a shorter one only as a whole word.
const safeLength = 8
// What is cut off in the middle of a secret leaves at most one less of it.
const shortestCut = 6
// Words of our own, which a weak password may equal.
const ownFields = new Set(['plan', 'kind', 'role', 'run', 'strategy', 'phase', 'code'])

// Words of our messages, which a weak password may equal: those are secrets only where a value stands.
const ownWords = new Set(
  'address admin cluster client command connection correct default driver host local master millrace name node password port rate redis replica root secret server servers slot strategy test user username valkey writer wrong'.split(
    ' ',
  ),
)

const escaped = (/** @type {string} */ text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** @param {string} secret */
const spellings = (secret) =>
  new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURI(secret),
    plainText(secret),
    // As a server's line is decoded.
    Buffer.from(secret).toString('latin1'),
  ])

// A token of IAM is signed anew every few seconds: these parts of every one are secret.
const signed = /X-Amz-Signature=/
const signedParts = 'X-Amz-(?:Signature|Security-Token|Credential)(?:=|%3D)[\\w%.+/=-]*'

/** A spelling, and its beginning at the end of a cut text. @param {string} spelling */
const patternOf = (spelling) => {
  if (ownWords.has(spelling))
    return `(?<=[:=@'"\`/]\\s?)${spelling}(?![\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])${spelling}(?=@)`
  if (spelling.length < safeLength) return `(?<![\\p{L}\\p{N}_.])${escaped(spelling)}(?![\\p{L}\\p{N}_])`
  const signs = [...spelling]
  const rest = signs.slice(shortestCut).reduceRight((tail, sign) => `(?:${escaped(sign)}${tail})?`, '')
  return `${escaped(spelling)}|${escaped(signs.slice(0, shortestCut).join(''))}${rest}(?=\\.\\.\\.|$)`
}

// Names of fields come again each second; those of a server may be any.
const mostNames = 5000

/** @typedef {ReturnType<typeof redactor>} Redactor */

export const redactor = () => {
  /** @type {Set<string>} */
  const allSpellings = new Set()
  let hasTokens = false
  /** @type {RegExp | null} */
  let pattern = null

  /** @param {string} text */
  const text = (text) => (pattern === null ? text : text.replace(pattern, instead))

  /** @type {Map<string, string>} */
  const names = new Map()
  const nameOf = (/** @type {string} */ key) => {
    const known = names.get(key) ?? text(key)
    if (names.size < mostNames) names.set(key, known)
    return known
  }

  /** @param {any} data @returns {any} */
  const walk = (data) => {
    if (pattern === null) return data
    if (typeof data === 'string') return text(data)
    if (Array.isArray(data)) return data.map(walk)
    if (data === null || typeof data !== 'object') return data
    const all = {}
    for (const [key, value] of Object.entries(data)) {
      if (ownFields.has(key)) setOwn(all, key, value)
      else setOwn(all, nameOf(key), walk(value))
    }
    return all
  }
  /** Without secrets, of the same shape. @type {<T>(data: T) => T} */
  const data = walk

  return {
    /** @param {(string | undefined)[]} secrets */
    learn(...secrets) {
      for (const secret of secrets) {
        if (secret === undefined || secret.length < shortest) continue
        if (signed.test(secret)) {
          hasTokens = true
          continue
        }
        if (/^\d+$/.test(secret) && secret.length < safeLength) continue
        for (const spelling of spellings(secret)) if (spelling.length >= shortest) allSpellings.add(spelling)
      }
      const longestFirst = [...allSpellings].sort((a, b) => b.length - a.length)
      const all = [...(hasTokens ? [signedParts] : []), ...longestFirst.map(patternOf)]
      pattern = all.length === 0 ? null : new RegExp(all.join('|'), 'gu')
      names.clear()
    },
    text,
    data,
  }
}
