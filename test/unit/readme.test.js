import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSettings } from '../../lib/cli/options.js'
import { newestResults } from '../../scripts/readme/measured.js'
import { envExample, withOptionsTable } from '../../scripts/readme.js'
import { ownFolder } from '../helpers/programs.js'

/** @param {string} name */
const fileText = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

test('docs/options.md has the tables of options as it is (else: node scripts/readme.js)', () => {
  const page = fileText('docs/options.md')
  assert.equal(page, withOptionsTable(page))
})

test('.env.example is as the table of options (else: node scripts/readme.js)', () => {
  assert.equal(fileText('.env.example'), envExample())
})

test('a table that differs is written anew, and nothing else', () => {
  const page = fileText('docs/options.md')
  const stale = `before\n${page.replace('items per interval', 'things')}after`
  assert.equal(withOptionsTable(stale), `before\n${page}after`)
  assert.throws(() => withOptionsTable('# no marks'), /lacks/)
})

test('.env.example changes nothing, as it is and with every line in force', () => {
  const read = (/** @type {string} */ dotenvText) => {
    const settings = readSettings({ program: 'producer', argv: [], env: {}, dotenvText })
    assert.ok('given' in settings)
    return { ...settings, given: undefined }
  }
  assert.deepEqual(read(envExample()), read(''))
  assert.deepEqual(read(envExample().replaceAll(/^#(\w+=)/gm, '$1')), read(''))
})

test('a folder without results of experiments is refused', async (t) => {
  const root = ownFolder(t, 'readme')
  await assert.rejects(newestResults(join(root, 'none')), /none cannot be read \(ENOENT\)/)
  await assert.rejects(newestResults(root), /no result of a published experiment/)
})
