// The files of the project, for tests of how they are written.
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
/** The text of a file. @param {string} path from the root of the project */
export const sourceOf = (path) => readFileSync(new URL(path, root), 'utf8')
/** Without its comments. @param {string} path of a module */
export const codeOf = (path) => sourceOf(path).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '')

/** The modules below these folders, as lib/run/run.js. @param {string[]} folders */
export const modulesIn = (...folders) =>
  folders.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  )
