// Commands as bytes, read back by the shortest parser that can do it: nothing of lib/ has a part in it.

/** @param {Buffer} bytes @returns {Buffer[][]} */
export const parseCommands = (bytes) => {
  const commands = []
  let at = 0
  const line = (/** @type {string} */ mark) => {
    const end = bytes.indexOf('\r\n', at)
    const text = bytes.toString('latin1', at, end)
    if (end < 0 || text[0] !== mark || !/^.(0|[1-9]\d*)$/.test(text))
      throw new Error(`not RESP at ${at}: ${text}`)
    at = end + 2
    return Number(text.slice(1))
  }
  while (at < bytes.length) {
    const args = []
    for (let left = line('*'); left > 0; left--) {
      const length = line('$')
      args.push(bytes.subarray(at, at + length))
      at += length
      if (bytes.toString('latin1', at, at + 2) !== '\r\n') throw new Error(`no line end at ${at}`)
      at += 2
    }
    commands.push(args)
  }
  return commands
}

/** @typedef {import('../../lib/wire/encode.js').TickValues} TickValues */

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

/** @param {import('../../lib/wire/encode.js').Part} part @param {TickValues} values */
const bytesOfPart = (part, values) => {
  if (typeof part === 'string') return Buffer.from(part)
  if (typeof part === 'number') return Buffer.from(String(part))
  return 'hole' in part ? Buffer.from(values[part.hole]) : Buffer.from(part)
}

/**
 * What must be on the wire for a command, made the plain way.
 * @param {import('../../lib/wire/encode.js').Argument[]} args
 * @param {TickValues} values
 */
export const wireOf = (args, values) => {
  const pieces = [Buffer.from(`*${args.length}\r\n`)]
  for (const arg of args) {
    const bytes = Buffer.concat((Array.isArray(arg) ? arg : [arg]).map((part) => bytesOfPart(part, values)))
    pieces.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(pieces)
}
