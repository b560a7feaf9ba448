// Data models that are words of a command line, and words that are none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withStrategies } from '../../lib/cli/typed-strategies.js'
import { typedLine } from '../../lib/options/command-line.js'
import { optionsOf } from '../../settings.js'

const one = { likeOther: ['zset'] }
const several = { areSeveral: true }
const model = { filesAre: /** @type {const} */ ('model') }
const files = { ...several, filesAre: /** @type {const} */ ('strategy') }

/** @param {string} line @param {Parameters<typeof withStrategies>[1]} taken */
const read = (line, taken) => {
  const { words, options } = withStrategies(typedLine(line.split(' '), optionsOf('producer')), taken)
  const model = options.has('model') ? `model ${options.get('model')}` : ''
  return [options.get('strategy') ?? model, ...words].join(' | ')
}

for (const [
  line,
  taken,
  meaning,
] of /** @type {[string, Parameters<typeof withStrategies>[1], string][]} */ ([
  ['queue-list', one, 'queue-list'],
  ['zset', one, 'zset'],
  ['list stream --rate 5', several, 'list,stream'],
  ['list ./feed.yaml', files, 'list,./feed.yaml'],
  // A file is what these plan or measure, not a candidate.
  ['./feed.yaml', several, ' | ./feed.yaml'],
  ['./feed.yaml', model, 'model ./feed.yaml'],
  ['./feed.yaml --model other.yaml', model, 'model other.yaml | ./feed.yaml'],
  ['list --strategy set', one, 'set | list'],
  ['hunter2', one, ' | hunter2'],
]))
  test(`${line}: ${meaning}`, () => assert.equal(read(line, taken), meaning))

for (const [
  line,
  taken,
  refusal,
] of /** @type {[string, Parameters<typeof withStrategies>[1], RegExp][]} */ ([
  ['sortedset', one, /^unexpected word on the command line \(not shown.*\); did you mean sorted-set\?$/],
  ['lst', several, /; did you mean list\?$/],
  ['feed.yaml list', model, /^one data model is played at a time/],
  ['list set', one, /^one data model is played at a time; to play them in turn: millrace compare list set$/],
]))
  test(`${line} is refused, with what may have been meant`, () =>
    assert.throws(() => read(line, taken), { name: 'OptionError', message: refusal }))
