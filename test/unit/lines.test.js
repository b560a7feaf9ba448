import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { linesByRoom } from '../../scripts/lines.js'
import { ownFolder } from '../helpers/programs.js'

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
