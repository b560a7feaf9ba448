import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { commands } from '../../lib/cli/commands.js'
import { startProgram } from '../helpers/programs.js'

const fileOf = (/** @type {string} */ name) => new URL(`../../${name}`, import.meta.url)

/** @param {import('node:test').TestContext} t @param {string} line */
const millrace = (t, line) => startProgram(t, 'lib/cli/millrace.js', line, { out: false }).ended

test('millrace is the command of the package, and names its commands', async (t) => {
  const { bin, version } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8'))
  assert.deepEqual(bin, { millrace: 'lib/cli/millrace.js' })
  assert.match(readFileSync(fileOf(bin.millrace), 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const [help, versions, unknown] = await Promise.all([
    millrace(t, ''),
    millrace(t, '--version'),
    millrace(t, 'staf'),
  ])
  assert.equal(help.code, 0)
  for (const name of Object.keys(commands)) assert.match(help.stdout, new RegExp(`^ {2}${name} `, 'm'))
  assert.equal(versions.stdout, `${version}\n`)
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [2, "millrace has no command 'staf'; did you mean staff?\n"],
  )
})

test('every command is a program that is there, and reads its own command line', async (t) => {
  const text = readFileSync(fileOf('lib/cli/commands.js'), 'utf8')
  const files = [...text.matchAll(/import\('(.*?)'\)/g)].map(([, path]) => path)
  assert.equal(files.length, Object.keys(commands).length)
  for (const path of files) readFileSync(new URL(path, fileOf('lib/cli/')))
  const { code, stderr } = await millrace(t, 'write --no-such-option')
  assert.equal(code, 2)
  assert.match(stderr, /unknown option --no-such-option/)
})
