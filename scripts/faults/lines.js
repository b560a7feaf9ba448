// Files of lines that grow while a program runs, and are looked at often.
import { readFileSync, statSync } from 'node:fs'

/**
 * The whole lines of an ndjson file so far; none when it is not there. Each line is parsed once.
 * @returns {(path: string) => any[]}
 */
export const growingLines = () => {
  const lines = /** @type {any[]} */ ([])
  let size = 0
  return (path) => {
    const now = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (now !== size) {
      size = now
      // The last one may be under way.
      const texts = readFileSync(path, 'utf8').split('\n').slice(lines.length, -1)
      lines.push(...texts.map((line) => JSON.parse(line)))
    }
    return lines.slice()
  }
}
