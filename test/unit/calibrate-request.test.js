// What a line of `millrace calibrate` asks for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellWords } from '../../lib/answers/plan/calibrate.js'
import { calibrationRequest, command, fileIn } from '../../lib/cli/commands/calibrate.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'

const requestOf = (/** @type {string} */ line) => {
  const typed = typedLine(line.split(' ').filter(Boolean), command.options)
  const settings = settingsOf(typed, command.options, { env: {} })
  return calibrationRequest(/** @type {any} */ (settings), typed, {})
}

test('a server of its own is asked for nothing but what was typed', () => {
  const whereOf = (/** @type {string} */ line) => requestOf(`--strategy list ${line}`).where
  const url = 'redis://127.0.0.1:1'
  assert.equal(whereOf(''), null)
  assert.deepEqual(whereOf(`--url ${url}`), { url, cluster: false })
  const cluster = whereOf(`--url ${url} --cluster --allow foreign-keys`)
  assert.deepEqual(cluster, { url, cluster: true, allow: ['foreign-keys'] })
})

test('a time without a unit is seconds', () => {
  const message = /must be a time from 1s to 10m.*plain number is s/
  assert.throws(() => requestOf('--strategy list --time 0'), { message })
})

test('a file that is not there is named as it was typed: by the option, or as a word', () => {
  const typedOf = (/** @type {string} */ line) => typedLine(line.split(' '), command.options)
  assert.throws(() => fileIn(typedOf('none.yaml')), {
    message: 'cannot read none.yaml: there is no such file',
  })
  assert.throws(() => requestOf('--model none.yaml'), {
    message: 'cannot read none.yaml: there is no such file',
  })
})

test('a cell in words: one of a thing is singular', () => {
  const cell = { items: 1000, valueBytes: 3, members: 10, connections: 1 }
  assert.equal(cellWords(cell), '1,000 items of 3 B, 10 a command, 1 connection')
  assert.match(cellWords({ ...cell, connections: 8 }), /, 8 connections$/)
})
