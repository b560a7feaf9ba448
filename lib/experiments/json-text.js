// JSON that knows where its keys stand, so that a complaint can name the line.

/** @typedef {readonly (string | number)[]} Path */

/** @param {Path} path */
const keyOf = (path) => JSON.stringify(path)

/** @param {string} text @param {number} at */
const lineAt = (text, at) => text.slice(0, at).split('\n').length

/** Where JSON.parse stopped, as far as it tells. @param {string} text @param {Error} error */
const faultLine = (text, { message }) => {
  const at = /position (\d+)/.exec(message)?.[1]
  return lineAt(text, at === undefined ? text.length : Number(at))
}

/**
 * The lines on which values begin, by path. The text is known to be JSON.
 * @param {string} text
 */
const linesIn = (text) => {
  const token = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g
  /** @type {Map<string, number>} */
  const lines = new Map()
  /** @type {Map<string, string[]>} */
  const twice = new Map()
  const next = () => token.exec(text) ?? Object.assign([''], { index: text.length })

  /** @param {Path} path @param {ReturnType<typeof next>} first */
  const value = (path, first) => {
    lines.set(keyOf(path), lineAt(text, first.index))
    if (first[0] === '{') members(path)
    else if (first[0] === '[') elements(path)
  }
  /** @param {Path} path */
  const members = (path) => {
    /** @type {Set<string>} */
    const names = new Set()
    for (let found = next(); found[0] !== '}'; found = next()) {
      if (found[0] === ',') continue
      const name = JSON.parse(found[0])
      if (names.has(name)) twice.set(keyOf(path), [...(twice.get(keyOf(path)) ?? []), name])
      names.add(name)
      next()
      const own = next()
      value([...path, name], own)
      // The key stands in front of its value, perhaps on a line above.
      lines.set(keyOf([...path, name]), lineAt(text, found.index))
    }
  }
  /** @param {Path} path */
  const elements = (path) => {
    let index = 0
    for (let found = next(); found[0] !== ']'; found = next()) {
      if (found[0] !== ',') value([...path, index++], found)
    }
  }
  value([], next())
  return { lines, twice }
}

/**
 * @param {string} text
 * @returns {{ value: any, fault: null, line: (path: Path) => number, twice: string[] } | { value: null, fault: string, faultLine: number }}
 *   twice: keys that stand more than once in one object, of which JSON keeps the last without a word
 */
export const readJson = (text) => {
  let value
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const error = /** @type {Error} */ (cause)
    const fault = error.message.replace(/ in JSON at position.*| \(line.*/s, '')
    return { value: null, fault, faultLine: faultLine(text, error) }
  }
  const { lines, twice } = linesIn(text)
  const line = (/** @type {Path} */ path) => {
    for (let length = path.length; length > 0; length--) {
      const found = lines.get(keyOf(path.slice(0, length)))
      if (found !== undefined) return found
    }
    return 1
  }
  return { value, fault: null, line, twice: [...twice.values()].flat() }
}
