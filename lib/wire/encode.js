// RESP encoding for commands kept as a batch, encoded for a send, or retried.

/**
 * A place of fixed width whose text is known only at a tick.
 * @typedef {{ hole: HoleName, width: number }} Hole
 * @typedef {'score' | 'minute' | 'floor' | 'stamp' | 'due'} HoleName due: epoch microseconds when an operation was due
 * @typedef {Record<HoleName, string>} TickValues
 * @typedef {string | number | Uint8Array | Hole} Part
 * @typedef {Part | Part[]} Argument an array of parts is one argument, joined
 */

/** For commands without a hole. @type {Readonly<TickValues>} */
export const noValues = Object.freeze({ score: '', minute: '', floor: '', stamp: '', due: '' })

/** The decimal digits of an integer from 0 on. @param {number} n */
export const digitsOf = (n) => {
  let digits = 1
  for (let limit = 10; n >= limit; limit *= 10) digits++
  return digits
}

/** @param {string} text */
const textWidth = (text) => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return Buffer.byteLength(text)
  return text.length
}

/** @param {Part} part */
const partWidth = (part) => {
  if (typeof part === 'string') return textWidth(part)
  if (typeof part === 'number')
    return part >= 0 && Number.isInteger(part) ? digitsOf(part) : String(part).length
  return part instanceof Uint8Array ? part.length : part.width
}

/** @param {Argument} arg */
const widthOf = (arg) => {
  if (!Array.isArray(arg)) return partWidth(arg)
  let width = 0
  for (const part of arg) width += partWidth(part)
  return width
}

/** @param {Argument} arg */
export const argumentSize = (arg) => {
  const width = widthOf(arg)
  return width + 5 + digitsOf(width)
}

/** Bytes of `*3\r\n`. @param {number} args */
export const countSize = (args) => 3 + digitsOf(args)

/** Bytes that `encode` writes for this command. @param {Argument[]} args */
export const encodedSize = (args) => {
  let size = countSize(args.length)
  for (const arg of args) size += argumentSize(arg)
  return size
}

/** @param {Buffer} out @param {number} at @param {number} n */
const putInteger = (out, at, n) => {
  if (n < 10) {
    out[at] = 48 + n
    return at + 1
  }
  const digits = digitsOf(n)
  let rest = n
  for (let i = at + digits - 1; i >= at; i--) {
    const next = Math.floor(rest / 10)
    out[i] = 48 + (rest - next * 10)
    rest = next
  }
  return at + digits
}

/** @param {Buffer} out @param {number} at @param {string} text */
const putText = (out, at, text) => {
  // Short ASCII is the common case, for which a call into the engine is slower than a loop.
  if (text.length < 24) {
    let i = 0
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 127) break
      out[at + i] = code
    }
    if (i === text.length) return at + i
  }
  return at + out.write(text, at, 'utf8')
}

/**
 * @param {Buffer} out
 * @param {number} at
 * @param {Part} part
 * @param {TickValues} values
 * @param {((hole: Hole, at: number) => void) | undefined} note
 */
const putPart = (out, at, part, values, note) => {
  if (typeof part === 'string') return putText(out, at, part)
  if (typeof part === 'number') {
    return part >= 0 && Number.isInteger(part) ? putInteger(out, at, part) : putText(out, at, String(part))
  }
  if (part instanceof Uint8Array) {
    out.set(part, at)
    return at + part.length
  }
  note?.(part, at)
  return putText(out, at, values[part.hole])
}

/**
 * @param {Buffer} out
 * @param {number} at
 * @param {Argument} arg
 * @param {TickValues} values
 * @param {(hole: Hole, at: number) => void} [note]
 */
export const putArgument = (out, at, arg, values, note) => {
  out[at++] = 36
  at = putInteger(out, at, widthOf(arg))
  out[at++] = 13
  out[at++] = 10
  if (Array.isArray(arg)) for (const part of arg) at = putPart(out, at, part, values, note)
  else at = putPart(out, at, arg, values, note)
  out[at++] = 13
  out[at++] = 10
  return at
}

/** `*3\r\n` @param {Buffer} out @param {number} at @param {number} args */
export const putCount = (out, at, args) => {
  out[at++] = 42
  at = putInteger(out, at, args)
  out[at++] = 13
  out[at++] = 10
  return at
}

/**
 * Writes one command at `at` and returns where the next begins. `note` learns where each hole lies.
 * @param {Argument[]} args
 * @param {Buffer} out
 * @param {number} at
 * @param {TickValues} values
 * @param {(hole: Hole, at: number) => void} [note]
 */
export const encode = (args, out, at, values, note) => {
  at = putCount(out, at, args.length)
  for (const arg of args) at = putArgument(out, at, arg, values, note)
  return at
}

/** Commands as bytes of their own. @param {readonly Argument[][]} commands */
export const commandBytes = (commands) => {
  const bytes = Buffer.allocUnsafe(commands.reduce((sum, args) => sum + encodedSize(args), 0))
  let at = 0
  for (const args of commands) at = encode(args, bytes, at, noValues)
  return bytes
}

export const askingBytes = commandBytes([['ASKING']])

/**
 * One argument for a client library: text, or bytes if any part is bytes.
 * @param {Argument} arg
 * @param {TickValues} values
 * @returns {string | Buffer}
 */
export const plainArgument = (arg, values) => {
  const parts = Array.isArray(arg) ? arg : [arg]
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part
    if (typeof part === 'number') return String(part)
    return 'hole' in part ? values[part.hole] : part
  })
  if (texts.every((text) => typeof text === 'string')) return texts.join('')
  return Buffer.concat(texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text)))
}

/** @param {Argument[]} args @param {TickValues} values */
export const plainCommand = (args, values) => args.map((arg) => plainArgument(arg, values))
