// Names of keys become patterns: numbers, UUIDs, hashes, dates and bytes are recognised by their form, words by how many a
// place in a name has. Pure; the number of patterns is bounded.

const limits = { patterns: 2000, words: 20, name: 512 }

/** @type {[RegExp, string][]} */
const kinds = [
  [/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, '{uuid}'],
  [/^(19|20)\d\d-?[01]\d(-?[0-3]\d)?([T_-]?[0-2]\d(:?[0-5]\d)*)?$/, '{date}'],
  [/^-?\d+$/, '{n}'],
  [/^(?=.*\d)[0-9a-f]{8,}$/i, '{hash}'],
  // Letters and digits that do not occur in words.
  [/^(?=.*\d)(?=.*[a-z])[\w~+=-]{12,}$/i, '{id}'],
]
const separators = /([:/|.,;#@!&?=_{}[\]()<> -]+)/
const uuids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:19|20)\d\d-[01]\d-[0-3]\d/gi

/** A piece between separators. @param {string} text */
const pieceOf = (text) => {
  for (const [form, kind] of kinds) if (form.test(text)) return kind
  // user42, v2: its digits.
  return text.replace(/\d+/g, '{n}')
}

const escaped = (/** @type {string} */ text) => text.replaceAll('{', '{{').replaceAll('}', '}}')

/** A name's pieces; separators among them. @param {Buffer} name @returns {string[]} */
export const piecesOf = (name) => {
  const parts = name.toString('latin1', 0, limits.name).split(/([^\x20-\x7e]+)/)
  /** @type {string[]} */
  const pieces = []
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 1) pieces.push('{bytes}')
    else if (part !== '') pieces.push(...piecesOfText(part))
  }
  return name.length > limits.name ? [...pieces, '{bytes}'] : pieces
}

/** @param {string} text */
const piecesOfText = (text) => {
  /** @type {string[]} */
  const pieces = []
  let from = 0
  const plain = (/** @type {string} */ part) => {
    // Long identifiers may have - and _ in them.
    for (const [i, piece] of part.split(separators).entries())
      if (piece !== '') pieces.push(i % 2 === 1 ? escaped(piece) : pieceOf(piece))
  }
  for (const found of text.matchAll(uuids)) {
    plain(text.slice(from, found.index))
    pieces.push(pieceOf(found[0]))
    from = found.index + found[0].length
  }
  plain(text.slice(from))
  return pieces
}

const isWord = (/** @type {string} */ piece) => /[a-z]/i.test(piece) && !piece.includes('{')

/**
 * Merges patterns that differ in one word only, if there are many.
 * @template T
 * @param {Map<string, { pieces: string[], data: T }>} patterns
 * @param {(into: T, from: T) => void} merge
 */
const collapse = (patterns, merge) => {
  for (let again = true; again; ) {
    again = false
    /** @type {Map<string, string[]>} */
    const alike = new Map()
    for (const [pattern, { pieces }] of patterns)
      for (const [i, piece] of pieces.entries())
        if (isWord(piece)) {
          const name = [...pieces.slice(0, i), '{word}', ...pieces.slice(i + 1)].join('\0')
          const group = alike.get(name)
          if (group) group.push(pattern)
          else alike.set(name, [pattern])
        }
    const groups = [...alike].filter(([, group]) => group.length > limits.words)
    for (const [name, group] of groups.sort((a, b) => b[1].length - a[1].length)) {
      const there = group.filter((pattern) => patterns.has(pattern))
      if (there.length <= limits.words) continue
      const pieces = name.split('\0')
      const text = pieces.join('')
      for (const pattern of there) {
        const { data } = /** @type {{ data: T }} */ (patterns.get(pattern))
        patterns.delete(pattern)
        const known = patterns.get(text)
        if (known) merge(known.data, data)
        else patterns.set(text, { pieces, data })
      }
      again = true
    }
  }
}

export const otherKeys = '(others)'

/** Patterns of names as they come. @template T @param {() => T} empty @param {(into: T, from: T) => void} merge */
export const patternsOf = (empty, merge) => {
  /** @type {Map<string, { pieces: string[], data: T }>} */
  const patterns = new Map()
  let full = false // nothing is left to merge
  return {
    /** The data of a name's pattern. @param {Buffer} name */
    dataOf: (name) => {
      const pieces = piecesOf(name)
      const text = pieces.join('')
      const known = patterns.get(text)
      if (known) return known.data
      if (!full && patterns.size >= limits.patterns) {
        collapse(patterns, merge)
        full = patterns.size >= limits.patterns
      }
      const place = full ? otherKeys : text
      const there = patterns.get(place) ?? { pieces: full ? [otherKeys] : pieces, data: empty() }
      patterns.set(place, there)
      return there.data
    },
    all: () => {
      collapse(patterns, merge)
      return [...patterns.values()]
    },
  }
}

/** The pattern of a name among those found, otherwise its own. @param {readonly { pieces: string[] }[]} patterns */
export const matching = (patterns) => {
  const known = new Map(patterns.map(({ pieces }) => [pieces.join(''), pieces]))
  const folded = patterns.filter(({ pieces }) => pieces.includes('{word}'))
  return (/** @type {Buffer} */ name) => {
    const own = piecesOf(name)
    const like = folded.find(
      ({ pieces }) =>
        pieces.length === own.length &&
        pieces.every((piece, i) => piece === own[i] || (piece === '{word}' && isWord(own[i]))),
    )
    return known.get(own.join('')) ?? like?.pieces ?? own
  }
}

/** Replaces words of names by others of the same length, and equal words by the same one. */
export const anonymousWords = () => {
  /** @type {Map<string, string>} */
  const known = new Map()
  return (/** @type {readonly string[]} */ pieces) =>
    pieces.map((piece) =>
      piece.replace(/[a-z]+/gi, (word, at) => {
        if (piece[at - 1] === '{' && piece[at - 2] !== '{') return word
        const other = known.get(word) ?? String.fromCharCode(97 + (known.size % 26)).repeat(word.length)
        const taken = [...known].some(([one, name]) => name === other && one !== word)
        const name = taken ? `${other.slice(0, -1)}${known.size}` : other
        known.set(word, name)
        return name
      }),
    )
}
