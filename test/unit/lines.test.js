// What `node scripts/lines.js` counts.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inlineTypes, linesByRoom, longFunctions, smallModules } from '../../scripts/lines.js'
import { ownFolder } from '../helpers/programs.js'

test('long functions, small modules and inline types are found', (t) => {
  const folder = ownFolder(t, 'lines')
  mkdirSync(join(folder, 'run'))
  const write = (/** @type {string} */ name, /** @type {readonly string[]} */ lines) =>
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  const body = (/** @type {number} */ count) => Array.from({ length: count }, () => '  work()')
  write('run/long.js', ['export const long = ({', '  a,', '}) => {', ...body(98), '}', 'const b = 1'])
  write('run/short.js', [
    'export const short = () => {',
    ...body(98),
    '}',
    'const all = [',
    ...body(200),
    ']',
  ])
  write('run/once.js', ["/** @type {import('./long.js').Long} */", "const { b } = await import('./long.js')"])
  write('run/both.js', ["import { b } from './once.js'", "import { long } from './long.js'"])
  assert.deepEqual(longFunctions(folder), [{ name: 'long', file: join('run', 'long.js'), lines: 102 }])
  assert.deepEqual(smallModules(folder), [join('run', 'once.js')])
  assert.equal(inlineTypes(folder), 1)
})

test('lines are counted by room, the longest first', (t) => {
  const folder = ownFolder(t, 'lines')
  mkdirSync(join(folder, 'run', 'deep'), { recursive: true })
  writeFileSync(join(folder, 'index.js'), 'a\nb\n')
  writeFileSync(join(folder, 'run', 'one.js'), 'a\n')
  writeFileSync(join(folder, 'run', 'deep', 'two.js'), 'a\nb\nc\n')
  writeFileSync(join(folder, 'run', 'page.css'), 'a\n')
  assert.deepEqual(linesByRoom(folder), [
    { room: 'run', files: 2, lines: 4 },
    { room: '.', files: 1, lines: 2 },
  ])
})
