// Commands as bytes, read back by the shortest parser that can do it: nothing of lib/ has a part in it.

/** The whole commands at the start of some bytes, and how far each reaches. @param {Buffer} bytes @param {number} [most] @param {BufferEncoding} [encoding] */
export const commandsIn = (bytes, most = Number.POSITIVE_INFINITY, encoding = 'latin1') => {
  const commands = /** @type {{ args: string[], end: number }[]} */ ([])
  let at = 0
  const isLineEnd = () => bytes[at] === 13 && bytes[at + 1] === 10
  /** -1: it is none, or not all of it is there. @param {number} mark */
  const number = (mark) => {
    if (bytes[at] !== mark) return -1
    const from = at + 1
    let n = 0
    for (at = from; bytes[at] >= 48 && bytes[at] <= 57; at++) n = n * 10 + bytes[at] - 48
    if (!isLineEnd() || at === from || (bytes[from] === 48 && at > from + 1)) return -1
    at += 2
    return n
  }
  while (commands.length < most) {
    const args = /** @type {string[]} */ ([])
    const count = number(42)
    if (count < 0) return commands
    for (let i = 0; i < count; i++) {
      const length = number(36)
      if (length < 0) return commands
      args.push(bytes.toString(encoding, at, at + length))
      at += length
      if (!isLineEnd()) return commands
      at += 2
    }
    commands.push({ args, end: at })
  }
  return commands
}

/** Bytes that are commands, and nothing else. @param {Buffer} bytes @returns {Buffer[][]} */
export const parseCommands = (bytes) => {
  const commands = commandsIn(bytes)
  const end = commands.at(-1)?.end ?? 0
  if (end < bytes.length) throw new Error(`not RESP at ${end}: ${bytes.toString('latin1', end, end + 40)}`)
  return commands.map(({ args }) => args.map((arg) => Buffer.from(arg, 'latin1')))
}

/** @import { Argument, Part, TickValues } from '../../lib/wire/encode.js' */

/** Holes of their usual width. @param {number} epochMs @returns {TickValues} */
export const valuesAt = (epochMs) => {
  const score = String(epochMs).padStart(13, '0')
  return {
    score,
    stamp: score,
    minute: String(Math.floor(epochMs / 60_000)).padStart(8, '0'),
    floor: String(epochMs - 3000).padStart(13, '0'),
    due: `${score}000`,
  }
}

const bytesOfPart = (/** @type {Part} */ part, /** @type {TickValues} */ values) => {
  if (typeof part === 'string') return Buffer.from(part)
  if (typeof part === 'number') return Buffer.from(String(part))
  return 'hole' in part ? Buffer.from(values[part.hole]) : Buffer.from(part)
}

/** What must be on the wire for a command, made the plain way. @param {Argument[]} args @param {TickValues} values */
export const wireOf = (args, values) => {
  const pieces = [Buffer.from(`*${args.length}\r\n`)]
  for (const arg of args) {
    const bytes = Buffer.concat((Array.isArray(arg) ? arg : [arg]).map((part) => bytesOfPart(part, values)))
    pieces.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(pieces)
}
