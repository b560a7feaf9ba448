// `millrace help --json`: what programs read of commands and options is what the parser takes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { commandNamed, commands } from '../../lib/cli/commands.js'
import { helpData, helpJson } from '../../lib/cli/help-json.js'
import { typedLine } from '../../lib/options/command-line.js'
import { VALUE_TYPES } from '../../lib/options/values.js'
import { startProgram } from '../helpers/programs.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

const { commands: all } = await helpData([])

test('every command is there, with every option that its parser takes and the help shows', async () => {
  assert.deepEqual(valuesOf(all, 'name'), Object.keys(commands))
  for (const { name, options } of all) {
    const command = await commandNamed(name)
    const shown = command.options.filter((option) => !option.hidden && !option.with)
    assert.deepEqual(valuesOf(options, 'name'), valuesOf(shown, 'name'), name)
  }
})

test('all commands have at most 150 long options; what --with takes is listed beside them', () => {
  const long = new Set(
    all.flatMap(({ options, passed }) =>
      [...options, ...passed]
        .flatMap(({ name, aliases }) => [name, ...aliases])
        .filter((one) => one.length > 1),
    ),
  )
  assert.ok(long.size <= 150, `${long.size}: ${[...long].sort().join(' ')}`)
  const { settings } = all.find(({ name }) => name === 'write') ?? assert.fail()
  assert.ok(settings.some(({ name }) => name === 'page-size'))
  // A profile takes a snapshot file; membership makes a snapshot.
  for (const { name } of settings) assert.ok(!long.has(name) || name === 'snapshot', name)
})

// Options whose default differs between commands, and why.
const differing = rowsOf(`
strategy -> which models are compared, planned or calibrated, where the others play one
items -> a search has no rate, a plan has the ttl, a calibration the largest structure
value-size -> of a calibration the largest
rate -> of a replay a part of what was profiled, of plan scale several
fill -> a search of reads fills what it reads
fetch-rate -> a choice is without readers unless one is asked for
limit -> a read of choose is of the newest, so that its cost does not grow with the items
boxes -> of files a number and a type of instance
read-from -> consumers read the newest items from replicas, where lookups are also written
ttl -> of a box on AWS until it ends
wait -> of reshard until the change is made, of a writer what must have its writes
replicas -> separate nodes have none
duration -> of each of many runs, long as its answer needs; a write ends by Ctrl-C
warm-up -> of each of many runs
region -> prices need one
control -> an experiment on one box has none
run -> an experiment on one box has none
out -> what a command writes lies together
workers -> of plan scale what one box can have
rounds -> a published experiment has three
servers -> started by the one, chosen by the other
time -> of a search, of a choice and of a cell
calibration -> a plan makes one
nodes -> types to consider, or a number
popularity -> keys of a cache that is planned are equally likely
share -> of seconds that meet the limits, or of commands that a profile may send
`)

test('an option has one default in all commands, or a reason', () => {
  /** @type {Map<string, Set<string>>} */
  const defaults = new Map()
  for (const { options, passed } of all)
    for (const { name, default: value, otherwise } of [...options, ...passed])
      defaults.set(name, (defaults.get(name) ?? new Set()).add(String(otherwise ?? value ?? 'none')))
  const several = [...defaults].filter(([, values]) => values.size > 1).map(([name]) => name)
  assert.deepEqual(several.sort(), differing.map(([name]) => name).sort())
})

test('the parser takes each option by each of its names, and as a flag only what is one', async () => {
  for (const { name, options } of all) {
    const { options: parsed } = await commandNamed(name)
    for (const option of options)
      for (const alias of [option.name, ...option.aliases]) {
        const dashes = alias.length === 1 ? `-${alias}` : `--${alias}`
        const isFlag = option.type === 'flag'
        const isNamed = option.type === 'named'
        if (isNamed && name === 'read') continue
        const setting = parsed.find((one) => one.with && one.type !== 'flag')?.name ?? ''
        const value = isNamed ? `${setting}=5` : 'value'
        const typed = typedLine([isFlag ? dashes : `${dashes}=${value}`].flat(), parsed)
        const [key, text] = isNamed ? [setting, '5'] : [option.name, isFlag ? 'true' : 'value']
        assert.equal(typed.options.get(key), text, `${name} ${dashes}`)
      }
  }
})

test('a default and each choice are values that the option takes', async () => {
  for (const { name, options } of all) {
    const { options: parsed } = await commandNamed(name)
    for (const { name: option, type, default: value, choices, otherwise } of options) {
      const row = parsed.find((one) => one.name === option) ?? assert.fail(option)
      if (type === 'flag') {
        assert.equal(typeof value, 'boolean', option)
        continue
      }
      assert.ok(value === null || otherwise === null || typeof value === 'string', option)
      // A path or a pattern of names is looked up when it is read.
      const values = type === 'model' ? [] : [value, ...choices].filter((one) => typeof one === 'string')
      for (const text of values)
        assert.notEqual(VALUE_TYPES[row.type].read(text, row), undefined, `${name} --${option} ${text}`)
    }
  }
})

test('docs/reference/options.md has each option once, with the commands that have it', () => {
  const page = readFileSync(new URL('../../docs/reference/options.md', import.meta.url), 'utf8')
  // A name that only some commands know has these behind it.
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `-'))
    .map((line) => line.replaceAll(/`[^`]+` \([\w, ]+\)/g, ''))
  const expected = /** @type {Map<string, string[]>} */ (new Map())
  for (const { name, options } of all)
    for (const { name: option } of options) expected.set(option, [...(expected.get(option) ?? []), name])
  assert.equal(rows.length, expected.size)
  for (const { name } of all.flatMap(({ settings }) => settings))
    assert.equal(page.match(new RegExp(`^\\| \`${name}\` \\|`, 'gm'))?.length, 1, name)
  for (const [option, names] of expected) {
    const [row, ...more] = rows.filter((line) => line.split('|')[1].split(' ').includes(`\`--${option}\``))
    assert.ok(row, option)
    assert.equal(more.length, 0, option)
    assert.deepEqual(row.split('|')[2].trim().split(', '), names, option)
  }
})

test('millrace help --json prints it, of all commands or of some; an unknown one is an error', async (t) => {
  const here = async (/** @type {string[]} */ ...words) => {
    const texts = { stdout: '', stderr: '' }
    const stream = (/** @type {keyof typeof texts} */ name) =>
      /** @type {any} */ ({ write: (/** @type {string} */ text) => (texts[name] += text) })
    const code = await helpJson(words, { stdout: stream('stdout'), stderr: stream('stderr') })
    return { code, ...texts }
  }
  const [whole, none] = [await here('--json'), await here('wrte', '--json')]
  const some = await startProgram(t, 'lib/cli/millrace.js', 'help write --json', { out: false }).ended
  assert.equal(whole.code, 0)
  assert.deepEqual(JSON.parse(whole.stdout).commands, JSON.parse(JSON.stringify(all)))
  const { commands: one, exit_codes: codes } = JSON.parse(some.stdout)
  assert.deepEqual([one.length, one[0].name, codes.threshold], [1, 'write', 99])
  assert.deepEqual([none.code, none.stdout], [2, ''])
  assert.match(none.stderr, /^millrace has no command 'wrte'; did you mean write\?\n$/)
})
