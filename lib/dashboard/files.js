// The files of the live page, read once: the page itself, and every module that its script imports, directly or not, so
// that nothing else of this machine can be asked for.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canDraw, libraryPath } from '../report/draw.js'
import { livePage } from './page.js'

/** @typedef {Map<string, { type: string, text: string }>} Files by their path behind the token */

const projectFolder = fileURLToPath(new URL('../..', import.meta.url))
const script = 'lib/report/page/browser/live.js'
const javascript = 'text/javascript; charset=utf-8'
const imported = /^(?:import|export) [^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'|^} from '(\.[^']+)'/gm

/** @param {string} path of a module @param {Files} files that gets it and all that it imports */
const addModule = (path, files) => {
  if (files.has(path)) return
  const text = readFileSync(`${projectFolder}/${path}`, 'utf8')
  files.set(path, { type: javascript, text })
  for (const [, one, two, three] of text.matchAll(imported))
    addModule(posix.join(posix.dirname(path), one ?? two ?? three), files)
}

/** @returns {Files} */
export const dashboardFiles = () => {
  /** @type {Files} */
  const files = new Map()
  addModule(script, files)
  const style = readFileSync(`${projectFolder}/lib/report/page/style.css`, 'utf8')
  files.set('style.css', { type: 'text/css; charset=utf-8', text: style })
  if (canDraw()) files.set('echarts.js', { type: javascript, text: readFileSync(libraryPath(), 'utf8') })
  files.set('', { type: 'text/html; charset=utf-8', text: String(livePage({ script, draws: canDraw() })) })
  return files
}
