import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLineOf } from '../../lib/cli/again.js'

const secret = ['--password', 'ab', '--password=cd', '--sentinel-password', 'ef']
const urls = ['--url', 'rediss://user:p%40ss@host:7000/1', 'redis://:secret@other']
for (const [what, as, words, line] of /** @type {[string, string, string[], string][]} */ ([
  ['what was typed', 'node producer.js', ['-q', '5k', '--cluster'], '-q 5k --cluster'],
  ['the name of the command once', 'millrace write', ['write', '-q', '5k'], '-q 5k'],
  ['quotes', 'node producer.js', ['--guard', 'a>0', "--prefix=it's"], `--guard 'a>0' '--prefix=it'\\''s'`],
  ['no password', 'node producer.js', [...secret, '-c', '4'], '-c 4'],
  ['no name of a run, which is taken', 'node producer.js', ['--run', 'a', '--run=x', '-c', '4'], '-c 4'],
  ['no password of an address', 'node consumer.js', urls, '--url rediss://host:7000/1 redis://other'],
]))
  test(`the line that repeats a run has ${what}`, () =>
    assert.equal(commandLineOf(as, ['/usr/bin/node', '/anywhere/it.js', ...words]), `${as} ${line}`))

test('the line of a fleet, which is for every box, has not the folder of one of them', () => {
  const argv = ['/usr/bin/node', '/anywhere/producer.js', '--out', 'box-1', '-t', '3', '--out=box-2']
  assert.equal(commandLineOf('node producer.js', argv, true), 'node producer.js -t 3')
  assert.equal(commandLineOf('node producer.js', argv), 'node producer.js --out box-1 -t 3 --out=box-2')
})
