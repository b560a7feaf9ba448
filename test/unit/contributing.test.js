// What CONTRIBUTING.md says about the modules is so.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LOADS } from '../../lib/loads/index.js'
import { longFunctions } from '../../scripts/lines.js'
import { codeOf, modulesIn, sourceOf } from '../helpers/sources.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = sourceOf('CONTRIBUTING.md')

/** Paths between backquotes. @param {string} words */
const pathsIn = (words) =>
  [...words.matchAll(/`((?:lib|charts|lua|scripts|test|docs)(?:\/[\w.-]+)*|\w+\.js)`/g)].map(
    ([, path]) => path,
  )

const rows = page
  .slice(page.indexOf('## How to add'), page.indexOf('## Add an option'))
  .split('\n')
  .filter((line) => /^\| an? /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, what, write, names]) => ({ what, write: pathsIn(write)[0], lists: pathsIn(names) }))

test('the modules that it names exist', () => {
  const paths = pathsIn(page).filter((path) => !path.includes('NAME'))
  assert.ok(paths.length > 50)
  const missing = paths.filter((path) => path.includes('/') && !existsSync(join(root, path)))
  assert.deepEqual(missing, [])
})

test('each function of more than 100 lines has its reason', () => {
  const reasons = [...page.matchAll(/^\| `(\w+)`, `lib\/([\w/.-]+)` \| .{20,} \|$/gm)]
  const listed = reasons.map(([, name, file]) => `${name}, ${file}`)
  const long = longFunctions(join(root, 'lib'))
  assert.ok(long.length > 0)
  const unlisted = long.filter(({ name, file }) => !listed.includes(`${name}, ${file.replaceAll('\\', '/')}`))
  assert.deepEqual(unlisted, [])
})

test('what is a file of a folder is imported by the list that the table names', () => {
  assert.equal(rows.length, 7)
  for (const { what, write, lists } of rows.filter(({ write }) => write.endsWith('/NAME.js'))) {
    const folder = write.slice(0, -'/NAME.js'.length)
    const list = codeOf(lists[0])
    const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.js'))
    // A command is a line of its list, by whose name it is imported.
    const isListed = (/** @type {string} */ name) =>
      list.includes(`/${name}'`) ||
      new RegExp(`\\n +'?(?:plan )?${name.slice(0, -'.js'.length)}'?: '`).test(list)
    const imported = names.filter(isListed)
    assert.ok(imported.length > 0, `${lists[0]} imports nothing of ${folder}: ${what}`)
    if (!['a driver', 'a chart of runs'].includes(what))
      assert.ok(imported.length > names.length / 2, `${lists[0]} has ${imported.length} of ${names.length}`)
  }
})

test('tables by kind of load are those that the table names', () => {
  const kinds = Object.keys(LOADS)
  const inOrder = kinds.map((kind) => `\\b${kind}(?:[,:]| })`).join('[\\s\\S]{0,1500}?')
  const found = modulesIn('lib').filter((path) => new RegExp(inOrder).test(codeOf(path)))
  const { lists } = rows.find(({ what }) => what === 'a kind of load') ?? { lists: [] }
  assert.deepEqual(found.sort(), [...lists].sort())
})
