// A snapshot file (RDB of Redis 2.8 to 8, of Valkey to 9) read from end to end without its values, and copied: all keys or a part of
// them, with their moments of expiry moved, so that a server that loads the copy has what the file had when it was saved.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { OptionError } from '../../base/errors.js'
import { plainText } from '../../base/units.js'

/**
 * @typedef {object} RdbHead what a file says of itself
 * @property {'redis' | 'valkey'} product
 * @property {number} format
 * @property {string | null} version of the server that saved it
 * @property {number | null} savedMs epoch
 * @property {number | null} usedMemory of that server
 *
 * @typedef {RdbHead & { keys: number, kept: number }} Copied
 */

const chunkBytes = 4 << 20
const longestHead = 4096
const opcodes = Object.freeze({
  slotInfo: 0xf4,
  functions: 0xf5,
  moduleAux: 0xf7,
  idle: 0xf8,
  frequency: 0xf9,
  aux: 0xfa,
  resize: 0xfb,
  expireMs: 0xfc,
  expireS: 0xfd,
  database: 0xfe,
  end: 0xff,
})

/** Bytes of a file, in order. `from` marks what is still wanted. @param {number} file */
const bytesOf = (file) => {
  let bytes = Buffer.allocUnsafe(2 * chunkBytes)
  let end = 0
  let at = 0
  let mark = 0
  /** Makes so many bytes readable at `at`. @param {number} count */
  const need = (count) => {
    if (end - at >= count) return
    if (mark > 0) {
      bytes.copyWithin(0, mark, end)
      at -= mark
      end -= mark
      mark = 0
    }
    if (at + count > bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (at + count))
      bytes.copy(larger, 0, 0, end)
      bytes = larger
    }
    while (end - at < count) {
      const read = readSync(file, bytes, end, bytes.length - end, null)
      if (read === 0) throw new RangeError('it ends in the middle of a key')
      end += read
    }
  }
  const byte = () => {
    need(1)
    return bytes[at++]
  }
  const skip = (/** @type {number} */ count) => {
    need(count)
    at += count
  }
  /** A length; -1 - kind: a number or a compressed text follows. */
  const length = () => {
    const first = byte()
    const kind = first >> 6
    if (kind === 0) return first & 63
    if (kind === 1) return ((first & 63) << 8) | byte()
    if (kind === 3) return -1 - (first & 63)
    need(8)
    if (first === 0x80) {
      at += 4
      return bytes.readUInt32BE(at - 4)
    }
    if (first !== 0x81) throw new RangeError(`it has a length of the unknown kind ${first}`)
    at += 8
    return Number(bytes.readBigUInt64BE(at - 8))
  }
  const texts = {
    /** @returns {Buffer | null} a view; null: it is compressed */
    text() {
      const n = length()
      if (n >= 0) {
        need(n)
        at += n
        return bytes.subarray(at - n, at)
      }
      if (n === -4) {
        const packed = length()
        length()
        skip(packed)
        return null
      }
      const width = [1, 2, 4][-1 - n]
      if (width === undefined) throw new RangeError(`it has a text of the unknown kind ${-1 - n}`)
      need(width)
      at += width
      return Buffer.from(String(bytes.readIntLE(at - width, width)))
    },
    skip: (/** @type {number} */ count) => {
      for (let i = 0; i < count; i++) texts.text()
    },
  }
  return {
    byte,
    skip,
    length,
    lengths: (/** @type {number} */ count) => {
      for (let i = 0; i < count; i++) length()
    },
    ...{ text: texts.text, texts: texts.skip },
    /** @param {number} count */
    take(count) {
      need(count)
      at += count
      return bytes.subarray(at - count, at)
    },
    mark: () => {
      mark = at
    },
    /** From the mark on. */
    marked: () => bytes.subarray(mark, at),
  }
}

/** @typedef {ReturnType<typeof bytesOf>} Bytes */

/** @param {Bytes} from */
const skipModule = (from) => {
  from.length()
  for (let kind = from.length(); kind !== 0; kind = from.length()) {
    if (kind === 1 || kind === 2) from.length()
    else if (kind === 3) from.skip(4)
    else if (kind === 4) from.skip(8)
    else if (kind === 5) from.text()
    else throw new RangeError(`a module's value has the unknown part ${kind}`)
  }
}

/** @param {Bytes} from @param {number} type */
const skipStream = (from, type) => {
  from.texts(2 * from.length())
  from.lengths(type === 15 ? 3 : 8)
  for (let groups = from.length(); groups > 0; groups--) {
    from.text()
    from.lengths(type === 15 ? 2 : 3)
    for (let pending = from.length(); pending > 0; pending--) {
      from.skip(24)
      from.length()
    }
    for (let consumers = from.length(); consumers > 0; consumers--) {
      from.text()
      from.skip(type === 21 ? 16 : 8)
      from.skip(16 * from.length())
    }
  }
}

/** @param {Bytes} from */
const skipDouble = (from) => {
  const length = from.byte()
  if (length < 253) from.skip(length)
}

const inOneText = new Set([0, 9, 10, 11, 12, 13, 16, 17, 20])

/** @param {Bytes} from @param {number} type @param {RdbHead['product']} product */
const skipValue = (from, type, product) => {
  if (inOneText.has(type)) from.text()
  else if (type === 1 || type === 2 || type === 14) from.texts(from.length())
  else if (type === 4) from.texts(2 * from.length())
  else if (type === 15 || type === 19 || type === 21) skipStream(from, type)
  else if (type === 7) skipModule(from)
  else if (type === 3 || type === 5)
    for (let n = from.length(); n > 0; n--) {
      from.text()
      if (type === 3) skipDouble(from)
      else from.skip(8)
    }
  else if (type === 18)
    for (let n = from.length(); n > 0; n--) {
      from.length()
      from.text()
    }
  // A hash whose fields have lifetimes: of Valkey 9, and of Redis from 7.4.
  else if (type === 22 && product === 'valkey')
    for (let n = from.length(); n > 0; n--) {
      from.texts(2)
      from.skip(8)
    }
  else if (type === 24) {
    from.skip(8)
    for (let n = from.length(); n > 0; n--) {
      from.length()
      from.texts(2)
    }
  } else if (type === 25) {
    from.skip(8)
    from.text()
  } else throw new RangeError(`it has a value of the unknown type ${type}`)
}

/** @param {Bytes} from @returns {RdbHead} */
const magicOf = (from) => {
  const found = /^(REDIS|VALKEY)(\d{3,4})$/.exec(from.take(9).toString('latin1'))
  if (!found) throw new RangeError('it does not begin as a snapshot does')
  const product = found[1] === 'REDIS' ? 'redis' : 'valkey'
  return { product, format: Number(found[2]), version: null, savedMs: null, usedMemory: null }
}

/** @param {RdbHead} head @param {string} name @param {string} value */
const noteAux = (head, name, value) => {
  if (name === 'redis-ver' || name === 'valkey-ver') head.version = plainText(value).slice(0, 20)
  // Valkey before 9 writes the format of Redis.
  if (name === 'valkey-ver') head.product = 'valkey'
  if (name === 'ctime') head.savedMs = Number(value) * 1000
  else if (name === 'used-mem') head.usedMemory = Number(value)
}

/** A line that names the file. @template T @param {string} path @param {() => T} work @returns {T} */
const ofFile = (path, work) => {
  try {
    return work()
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (!(error instanceof RangeError) && code === undefined) throw error
    throw new OptionError(
      `--snapshot ${plainText(path)}${code === undefined ? `: ${message}` : ` cannot be read (${code})`}`,
      { cause: error },
    )
  }
}

/** What a file says of itself before its first key. @param {string} path @returns {RdbHead} */
export const rdbHead = (path) =>
  ofFile(path, () => {
    const file = openSync(path, 'r')
    try {
      const from = bytesOf(file)
      const head = magicOf(from)
      for (let n = 0; n < longestHead && from.byte() === opcodes.aux; n++) {
        const [name, value] = [String(from.text()), String(from.text())]
        noteAux(head, name, value)
      }
      return head
    } finally {
      closeSync(file)
    }
  })

/** @param {number} file */
const writerOf = (file) => {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let used = 0
  const flush = () => {
    for (let at = 0; at < used; ) at += writeSync(file, buffer, at, used - at)
    used = 0
  }
  return {
    /** @param {Buffer} bytes */
    write(bytes) {
      if (used + bytes.length > buffer.length) flush()
      if (bytes.length > buffer.length) {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      } else used += bytes.copy(buffer, used)
    },
    flush,
  }
}

const sizeOpcodes = /** @type {ReadonlySet<number>} */ (new Set([opcodes.resize, opcodes.slotInfo]))
const noChecksum = Buffer.from([opcodes.end, 0, 0, 0, 0, 0, 0, 0, 0])

/**
 * @param {object} needs
 * @param {string} needs.path
 * @param {string} needs.to
 * @param {number} needs.shiftMs added to moments of expiry
 * @param {(name: Buffer | null, n: number) => boolean} needs.keeps whether key number n is a part; null: its name is compressed
 * @param {AbortSignal} [needs.stop]
 * @returns {Copied}
 */
export const copyRdb = ({ path, to, shiftMs, keeps, stop }) =>
  ofFile(path, () => {
    const [input, output] = [openSync(path, 'r'), openSync(to, 'w', 0o600)]
    try {
      const from = bytesOf(input)
      const out = writerOf(output)
      const head = magicOf(from)
      let [keys, kept] = [0, 0]
      const expiry = Buffer.alloc(9)
      let expires = false
      const copied = () => {
        out.write(from.marked())
        from.mark()
      }
      copied()
      for (;;) {
        if (stop?.aborted) break
        const kind = from.byte()
        if (kind === opcodes.end) break
        if (kind === opcodes.expireMs || kind === opcodes.expireS) {
          const raw = from.take(kind === opcodes.expireMs ? 8 : 4)
          const ms = kind === opcodes.expireMs ? Number(raw.readBigInt64LE()) : raw.readInt32LE() * 1000
          expiry[0] = opcodes.expireMs
          expiry.writeBigInt64LE(BigInt(Math.round(ms + shiftMs)), 1)
          expires = true
          from.mark()
        } else if (kind === opcodes.idle) {
          from.length()
          from.mark()
        } else if (kind === opcodes.frequency) {
          from.byte()
          from.mark()
        } else if (kind === opcodes.aux) {
          const [name, value] = [String(from.text()), String(from.text())]
          noteAux(head, name, value)
          copied()
        } else if (kind === opcodes.functions) {
          from.text()
          copied()
        } else if (kind === opcodes.database) {
          from.length()
          copied()
        } else if (sizeOpcodes.has(kind)) {
          // Sizes of tables to come: those of a part would be wrong.
          from.lengths(kind === opcodes.resize ? 2 : 3)
          from.mark()
        } else if (kind === opcodes.moduleAux) {
          skipModule(from)
          from.mark()
        } else {
          const name = from.text()
          const isKept = keeps(name, keys++)
          skipValue(from, kind, head.product)
          if (isKept) {
            kept++
            if (expires) out.write(expiry)
            copied()
          } else from.mark()
          expires = false
        }
      }
      out.write(noChecksum)
      out.flush()
      return { ...head, keys, kept }
    } finally {
      closeSync(input)
      closeSync(output)
    }
  })
