import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLineOf } from '../../lib/cli/again.js'

/** @param {string} as @param {string[]} words */
const again = (as, ...words) => commandLineOf(as, ['/usr/bin/node', '/anywhere/it.js', ...words])

test('the line that repeats a run is what was typed, quoted where a shell needs it', () => {
  assert.equal(again('node producer.js', '-q', '5k', '--cluster'), 'node producer.js -q 5k --cluster')
  assert.equal(again('millrace write', 'write', '-q', '5k'), 'millrace write -q 5k')
  assert.equal(
    again('node producer.js', '--guard', 'evicted>0', "--prefix=it's"),
    `node producer.js --guard 'evicted>0' '--prefix=it'\\''s'`,
  )
})

test('the line of a fleet, which is for every box, has not the folder of one of them', () => {
  const argv = ['/usr/bin/node', '/anywhere/producer.js', '--out', 'box-1', '-t', '3', '--out=box-2']
  assert.equal(commandLineOf('node producer.js', argv, true), 'node producer.js -t 3')
  assert.equal(commandLineOf('node producer.js', argv), 'node producer.js --out box-1 -t 3 --out=box-2')
})

test('it has no password, and not the name of the run, which is taken', () => {
  const password = ['--password', 'ab', '--password=cd', '--sentinel-password', 'ef']
  assert.equal(
    again('node producer.js', ...password, '--run', 'mine', '--run=x', '-c', '4'),
    'node producer.js -c 4',
  )
  assert.equal(
    again('node consumer.js', '--url', 'rediss://user:p%40ss@host:7000/1', 'redis://:secret@other'),
    'node consumer.js --url rediss://host:7000/1 redis://other',
  )
})
