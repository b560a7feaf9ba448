// Intervals of a box on disk: those that the control server has not taken are sent later, and all of them to one that lost
// its data.
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** In memory, for programs that have no folder. */
export const storeInMemory = () => {
  /** @type {string[]} */
  const texts = []
  return {
    append: (/** @type {string} */ text) => void texts.push(text),
    all: async () => [...texts],
    close: async () => {},
  }
}

/** @param {string} folder */
export const storeIn = async (folder) => {
  const path = join(folder, 'fleet.ndjson')
  const file = await open(path, 'a')
  let written = Promise.resolve()
  return {
    /** Does not wait for the write. @param {string} text */
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
