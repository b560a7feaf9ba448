// Counts commands by their lengths, without looking at what they say.

const [star, dollar, newLine, zero] = Buffer.from('*$\n0')

/**
 * How many commands end in what is read. One that is cut goes on in the next.
 * @returns {(bytes: Buffer) => number}
 */
export const commandCounter = () => {
  // Arguments that are still to come, bytes of one that are, and the number of the line that is being read.
  let args = 0
  let skip = 0
  let number = 0
  let isCount = false
  return (bytes) => {
    let commands = 0
    let at = 0
    const end = bytes.length
    while (at < end) {
      if (skip > 0) {
        const part = Math.min(skip, end - at)
        skip -= part
        at += part
        if (skip === 0 && --args === 0) commands++
        continue
      }
      const byte = bytes[at++]
      if (byte >= zero && byte < zero + 10) number = number * 10 + byte - zero
      else if (byte === star) isCount = true
      else if (byte === dollar) isCount = false
      else if (byte === newLine) {
        if (isCount) args = number
        // The line's end belongs to the argument.
        else skip = number + 2
        number = 0
      }
    }
    return commands
  }
}
