// Intervals of a box on disk: what the control did not take is sent later, all of it to one that lost its data.
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** In memory, for programs that have no folder. */
export const keptInMemory = () => {
  /** @type {string[]} */
  const texts = []
  return {
    append: (/** @type {string} */ text) => void texts.push(text),
    all: async () => [...texts],
    close: async () => {},
  }
}

/** @param {string} folder */
export const keptIn = async (folder) => {
  const path = join(folder, 'fleet.ndjson')
  const file = await open(path, 'a')
  let written = Promise.resolve()
  return {
    /** No write is waited for. @param {string} text */
    append(text) {
      written = written.then(() => file.appendFile(`${text}\n`)).catch(() => {})
    },
    async all() {
      await written
      return (await readFile(path, 'utf8')).split('\n').filter(Boolean)
    },
    async close() {
      await written
      await file.close()
    },
  }
}
