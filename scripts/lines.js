// node scripts/lines.js [FOLDER]: lines of code by room, so that what a change adds or removes is seen. By default of lib.
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param {string} folder @returns {{ room: string, files: number, lines: number }[]} its own files are of room '.' */
export const linesByRoom = (folder) => {
  /** @type {Map<string, { room: string, files: number, lines: number }>} */
  const rooms = new Map()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js') && !name.endsWith('.d.ts')) continue
    const room = name.includes(sep) ? name.split(sep)[0] : '.'
    const sum = rooms.get(room) ?? { room, files: 0, lines: 0 }
    sum.files++
    sum.lines += readFileSync(join(folder, name), 'utf8').split('\n').length - 1
    rooms.set(room, sum)
  }
  return [...rooms.values()].sort((a, b) => b.lines - a.lines)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rooms = linesByRoom(process.argv[2] ?? fileURLToPath(new URL('../lib', import.meta.url)))
  const total = (/** @type {'files' | 'lines'} */ name) => rooms.reduce((sum, each) => sum + each[name], 0)
  for (const { room, files, lines } of [
    ...rooms,
    { room: 'all', files: total('files'), lines: total('lines') },
  ])
    console.log(`${room.padEnd(14)}${String(files).padStart(5)} files${String(lines).padStart(8)} lines`)
}
