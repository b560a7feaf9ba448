// node scripts/lines.js [FOLDER]: how large the code is, so that what a change adds or removes is seen: lines by room, long
// functions, small modules that one other imports, types that are imported where they are used, and names that several modules
// export. By default of lib.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const longestFunction = 100
const smallModule = 60

/** @param {string} folder @param {RegExp} [kind] @returns {{ name: string, text: string }[]} */
const filesIn = (folder, kind = /\.js$/) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name) && !name.includes('node_modules'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

/** @param {string} text */
const linesOf = (text) => text.split('\n').length - 1

/** @param {string} folder @returns {{ room: string, files: number, lines: number }[]} its own files are of room '.' */
export const linesByRoom = (folder) => {
  /** @type {Map<string, { room: string, files: number, lines: number }>} */
  const rooms = new Map()
  for (const { name, text } of filesIn(folder, /\.js$|\.d\.ts$/)) {
    const room = name.includes(sep) ? name.split(sep)[0] : '.'
    const sum = rooms.get(room) ?? { room, files: 0, lines: 0 }
    sum.files++
    sum.lines += linesOf(text)
    rooms.set(room, sum)
  }
  return [...rooms.values()].sort((a, b) => b.lines - a.lines)
}

const beginsFunction =
  /^( *)(?:export )?(?:const (\w+) = (?:async )?(?:\(|\w+ =>)|(?:async )?function\*? (\w+)\(|(?:async )?(?!if|for|while|switch)(\w+)\(.*\) \{$)/
const goesOn = /^ *[)\]}]+.*(?:=>|[({[])$/

/**
 * Functions of more than 100 lines, the longest first; by their indentation, which the formatter makes.
 * @param {string} folder
 * @returns {{ name: string, file: string, lines: number }[]}
 */
export const longFunctions = (folder) =>
  filesIn(folder)
    .flatMap(({ name: file, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, at) => {
        const [, indent = null, ...names] = beginsFunction.exec(line) ?? []
        if (indent === null) return []
        const isInside = (/** @type {string} */ next) =>
          next === '' || next.startsWith(`${indent} `) || (goesOn.test(next) && next.startsWith(indent))
        const length = lines.slice(at + 1).findIndex((next) => !isInside(next))
        return length < longestFunction
          ? []
          : [{ name: String(names.find(Boolean)), file, lines: length + 2 }]
      })
    })
    .sort((a, b) => b.lines - a.lines)

// A command, a measure, a data model and a kind of load are a file each, however short.
const tables = /^(?:cli.commands|measures|workloads.\w+)[\\/]|index\.js$/

/**
 * Modules under 60 lines that one other module imports: candidates for being a part of it.
 * @param {string} folder
 * @param {{ name: string, text: string }[]} [others] outside of it, which may import them too
 */
export const smallModules = (folder, others = []) => {
  const own = filesIn(folder)
  const importers = [...own.map(({ name, text }) => ({ name: join(folder, name), text })), ...others].map(
    ({ name, text }) => {
      const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
      const found = code.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g)
      return new Set([...found].map(([, path]) => join(dirname(name), path)))
    },
  )
  return own
    .filter(({ name, text }) => linesOf(text) < smallModule && !tables.test(name))
    .map(({ name }) => name)
    .filter((name) => importers.filter((paths) => paths.has(join(folder, name))).length === 1)
}

/** Types that are imported where they are used, not once above. @param {string} folder */
export const inlineTypes = (folder) =>
  filesIn(folder).reduce(
    (sum, { text }) => sum + [...text.matchAll(/(?<!await )import\('[^']+'\)\.\w/g)].length,
    0,
  )

// The parts of a kind of load have the same names in each folder.
const ofKind = /^loads.\w+.(?:index|words|reasons)\.js$/

/**
 * Names that more than one module exports, with these modules: each may have a meaning of its own. Lists of files of one
 * kind, as the commands, have the same names on purpose.
 * @param {string} folder
 * @returns {{ name: string, files: string[] }[]}
 */
export const sharedNames = (folder) => {
  /** @type {Map<string, string[]>} */
  const by = new Map()
  for (const { name: file, text } of filesIn(folder).filter(({ name }) => !ofKind.test(name)))
    for (const [, name] of text.matchAll(/^export (?:const|class|(?:async )?function\*?) (\w+)/gm))
      if (name !== 'command' && name !== 'planFieldsOf') by.set(name, [...(by.get(name) ?? []), file])
  return [...by].filter(([, files]) => files.length > 1).map(([name, files]) => ({ name, files }))
}

/** All of it. @param {string} [folder] */
export const sizeOf = (folder = join(root, 'lib')) => {
  const others = ['charts', 'scripts'].flatMap((name) =>
    filesIn(join(root, name)).map(({ name: file, text }) => ({ name: join(root, name, file), text })),
  )
  const programs = ['settings.js', 'producer.js', 'consumer.js'].map((name) => ({
    name: join(root, name),
    text: readFileSync(join(root, name), 'utf8'),
  }))
  return {
    rooms: linesByRoom(folder),
    functions: longFunctions(folder),
    modules: smallModules(folder, [...others, ...programs]),
    types: inlineTypes(folder),
    names: sharedNames(folder),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rooms, functions, modules, types, names } = sizeOf(process.argv[2])
  const total = (/** @type {'files' | 'lines'} */ name) => rooms.reduce((sum, each) => sum + each[name], 0)
  for (const { room, files, lines } of [
    ...rooms,
    { room: 'all', files: total('files'), lines: total('lines') },
  ])
    console.log(`${room.padEnd(14)}${String(files).padStart(5)} files${String(lines).padStart(8)} lines`)
  console.log(`\n${functions.length} functions of more than ${longestFunction} lines`)
  for (const { name, file, lines } of functions) console.log(`${String(lines).padStart(6)} ${name}, ${file}`)
  console.log(`\n${modules.length} modules under ${smallModule} lines that one other imports`)
  for (const name of modules) console.log(`       ${name}`)
  console.log(`\n${types} types that are imported where they are used`)
  console.log(`\n${names.length} names that more than one module exports`)
  for (const { name, files } of names) console.log(`       ${name}: ${files.join(', ')}`)
}
