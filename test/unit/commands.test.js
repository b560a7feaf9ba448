import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { millraceVersion } from '../../lib/base/version.js'
import { offered } from '../../lib/cli/commands/completion.js'
import { commandNamed, commands } from '../../lib/cli/commands.js'
import { terminalText } from '../../lib/cli/log.js'
import { helpText } from '../../lib/options/help.js'
import { ownRuntime, runCommand } from '../helpers/command-here.js'
import { ownFolder, startProgram } from '../helpers/programs.js'

/** @import { TestContext } from 'node:test' */

const fileOf = (/** @type {string} */ name) => new URL(`../../${name}`, import.meta.url)
/** @param {TestContext} t @param {string} line */
const millrace = (t, line) => startProgram(t, 'lib/cli/millrace.js', line, { out: false }).ended
/** A command in this process. @param {import('node:test').TestContext} t @param {string} line */
const here = (t, line) => runCommand(t, line, { out: false })

test('millrace names its commands', async (t) => {
  const lines = ['', '--version', 'staf'].map((line) => millrace(t, line))
  const [help, versions, unknown] = await Promise.all(lines)
  assert.equal(help.code, 0)
  const lines80 = help.stdout.trimEnd().split('\n')
  assert.ok(lines80.length < 24 && lines80.every((line) => line.length <= 80), help.stdout)
  for (const name of Object.keys(commands).filter((each) => !each.includes(' ')))
    assert.match(help.stdout, new RegExp(`\\b${name}\\b`))
  assert.equal(versions.stdout, `${millraceVersion()}\n`)
  const sentence = "millrace has no command 'staf'; did you mean staff?\n"
  assert.deepEqual([unknown.code, unknown.stderr], [2, sentence])
})

test('every command has a help, and is what its file and its script start', async (t) => {
  for (const name of Object.keys(commands)) {
    const { about, options } = await commandNamed(name)
    const [brief, whole] = await Promise.all(
      [false, true].map(async (isWhole) => {
        const layout = { columns: 80, whole: isWhole }
        return (await helpText({ ...about, as: `millrace ${name}` }, options, layout)).split('\n')
      }),
    )
    assert.ok(brief.length < 48, `${name}: ${brief.length} lines`)
    for (const line of [...brief, ...whole]) assert.ok(line.length <= 80, line)
  }
  const [{ code, stderr }, old, ofScript] = await Promise.all([
    here(t, 'write --no-such-option'),
    startProgram(t, 'producer.js', '--help', { out: false }).ended,
    startProgram(t, 'scripts/cleanup.js', '--help', { out: false }).ended,
  ])
  assert.deepEqual([code, stderr], [2, 'unknown option --no-such-option\n'])
  assert.match(old.stdout, /^Usage: node producer\.js \[STRATEGY\] \[options\]$/m)
  assert.match(ofScript.stdout, /^Usage: node scripts\/cleanup\.js \[options\]$/m)
})

test('help of a command is there in three spellings', async (t) => {
  const [first, ...others] = await Promise.all([
    ...['report --help', 'report -h'].map((line) => here(t, line)),
    millrace(t, 'help report'),
  ])
  for (const { code, stdout } of others) assert.deepEqual([code, stdout], [0, first.stdout])
})

test('a topic that the help does not have is refused', async (t) => {
  for (const [line, words] of [
    ['write --help al', '--help has no such topic; did you mean all?'],
    ['plan --help al', '--help has no such topic; did you mean all?'],
    ['write --help lookup-gett', '--help has no such topic; did you mean lookup-get?'],
    ['write --help secret', '--help has no such topic; it takes all, or a strategy'],
  ]) {
    const { code, stderr } = await here(t, line)
    assert.deepEqual([code, stderr], [2, `${words}\n`])
  }
  const found = await here(t, 'write --help lookup-get')
  assert.equal(found.code, 0, found.stderr)
})

/** What bash would offer. @param {string} folder with millrace in it @param {string} script @param {string[]} words the last one is being typed */
const offeredInBash = (folder, script, words) => {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const line = `COMP_WORDS=(millrace ${quoted}); COMP_CWORD=${words.length}; _millrace_yargs_completions; echo "\${COMPREPLY[*]}"`
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, SHELL: 'bash' }
  const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${line}`], { encoding: 'utf8', env })
  assert.equal(stderr, '')
  return stdout.trim()
}

test('the completion offers commands, options, values and words', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync(fileURLToPath(fileOf('lib/cli/millrace.js')), join(folder, 'millrace'))
  const { code, stdout: script } = await here(t, 'completion bash')
  assert.equal(code, 0)
  assert.equal(offeredInBash(folder, script, ['write', '--strategy', 'li']), 'list list-hll')
  for (const [line, words] of Object.entries({
    wri: 'write',
    'write --dry': '--dry-run',
    'read -s ': 'manual script',
    'compare sorted': 'sorted-set',
    'experiment sh': 'show shards',
    'write --he': '--help',
    'nothing --he': '--help',
  })) {
    const typed = line.split(' ')
    const found = (await offered(['millrace', ...typed])).map((word) => word.split(':')[0])
    const begun = found.filter((word) => word.startsWith(String(typed.at(-1))))
    assert.equal(begun.join(' '), words, line)
  }
  const [zsh, bad] = await Promise.all(['zsh', 'fish'].map((shell) => here(t, `completion ${shell}`)))
  assert.match(zsh.stdout, /^autoload[\s\S]+compdef _millrace/)
  assert.deepEqual([bad.code, bad.stderr], [2, 'completion takes bash or zsh\n'])
})

test('doctor shows the machine and the servers that it finds', async (t) => {
  const { code, stdout } = await here(t, 'doctor')
  assert.equal(code, 0)
  for (const what of ['millrace', 'cores', 'open files', 'timers', 'local server'])
    assert.match(stdout, new RegExp(`^ {2}${what} `, 'm'))
})

test('a sentence is no wider than a terminal, and one line elsewhere', () => {
  const text = 'a sentence that is longer than the terminal'
  const wrapped = 'a sentence that is\nlonger than the\nterminal'
  assert.equal(terminalText(text, { isTTY: true, columns: 20 }), wrapped)
  assert.equal(terminalText(text, { isTTY: false, columns: 20 }), text)
})

test('help of a strategy has what it takes, and its name may come first', async (t) => {
  const lines = ['write', 'write queue-list', 'write --strategy sorted-set']
  const [plain, queue, sets] = await Promise.all(lines.map((line) => here(t, `${line} --help`)))
  const dry = await here(t, 'write list --dry-run')
  const optionsIn = (/** @type {string} */ text) =>
    [...text.matchAll(/^(?: +(?:-\w, )?--| {6})([a-z-]+)(?= |=|,)/gm)].map(([, name]) => name)
  assert.ok(!optionsIn(plain.stdout).includes('max-queue'))
  assert.ok(optionsIn(queue.stdout).includes('max-queue') && !optionsIn(queue.stdout).includes('ttl'))
  const ofSets = optionsIn(sets.stdout)
  assert.ok(ofSets.includes('ttl') && ofSets.length >= 20 && ofSets.length <= 30, String(ofSets.length))
  assert.match(dry.stdout, /^ +list, values of 128 B/m)
  const wrong = await here(t, 'write queue-list --strategy list')
  assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
})

// What hands type: a line, what is printed, and the exit code.
for (const [line, printed, code = 2] of /** @type {[string, RegExp, number?][]} */ ([
  ...['cleanup', 'find', 'profile', 'choose', 'calibrate', 'plan', 'reshard move'].map((name) => [
    `${name} -p 27110`,
    /^unknown option -p; did you mean --port\?$/m,
  ]),
  ...['read', 'doctor', 'compare sorted-set list --dry-run'].map((name) => [
    `${name} -p 27110`,
    /-p 27110 is a period of 27.11 s; the port is --port 27110 /,
    name === 'read' ? 3 : 0,
  ]),
  ...['write zset', 'find zset --slo latency.p99<9ms', 'doctor --strategy zset'].map((whole) => [
    whole,
    /^--strategy 'zset' is unknown; for zset take sorted-set \(or /m,
  ]),
  ['write string', /for string take actual-value \(or lookup-get, lookup-set\)\. It must be one of/],
  ['compare hset list', /^A: 'hset' is neither a data model nor NAME=VALUE; for hset take hash \(or /m],
  ['choose --rate 1k --strategy zset', /must be of sorted-set, .*; for zset take sorted-set \(or /],
  ['calibrate --strategy lists', /must be of sorted-set, .*, or all; did you mean list\?$/m],
  ['calibrate --strategy get', /must be of sorted-set, .*, or all(; did you mean set\?)?$/m],
  ['choose --rate 1k --port 7001 --host h:7000', /^--host and --port name two ports$/m],
  ['choose --rate 1k --port 7001 --across servers', /^--port and --across servers: give one of them$/m],
  ['choose --rate 1k --port 7001 --dry-run', /candidates: about/, 0],
]))
  test(`typed: ${line}`, async (t) => {
    ownRuntime(t)
    const { code: ended, stdout, stderr } = await here(t, line)
    assert.match(stdout + stderr, printed)
    assert.equal(ended, code)
  })

test('where a server is named, its host, its port and a URL may be typed', async () => {
  for (const name of Object.keys(commands)) {
    const { options, passed = [] } = await commandNamed(name)
    const names = new Set([...options, ...passed].map((one) => one.name))
    const given = ['url', 'host', 'port'].filter((one) => names.has(one))
    assert.ok(given.length === 0 || given.length === 3, `${name} has ${given}`)
  }
})

test('a metric has its short name wherever a limit is typed', async (t) => {
  const folders = ['a', 'b'].map((name) => join(ownFolder(t, name), 'none'))
  for (const line of [
    'write --threshold LIMIT',
    'read --threshold LIMIT',
    'find list --slo LIMIT',
    'compare sorted-set list --threshold LIMIT',
    `diff ${folders.join(' ')} --threshold LIMIT`,
  ]) {
    const { stderr } = await here(t, line.replace('LIMIT', 'latency.p99<20'))
    assert.match(stderr, /^--(threshold|slo) latency\.p99<20: .* no unit: write latency\.p99<20ms$/m, line)
  }
})
