// README.md and docs/: links, anchors and command lines are right, and examples are valid.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readSettings } from '../../lib/cli/options.js'
import { experimentNamed } from '../../lib/experiments/catalogue.js'
import { anchorsOf, commandsOf, linksOf } from '../helpers/markdown.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const textOf = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8')
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.map((name) => `docs/${name}`)]
const scripts = /** @type {Record<string, string>} */ (JSON.parse(textOf('package.json')).scripts)

test('links of README.md and docs/ lead to files and headings that exist', () => {
  const broken = pages.flatMap((page) =>
    linksOf(textOf(page))
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [path, anchor] = link.split('#')
        const file = path === '' ? page : normalize(join(dirname(page), path))
        if (!existsSync(join(root, file))) return true
        return anchor !== undefined && !anchorsOf(textOf(file)).has(anchor)
      })
      .map((link) => `${page}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('README.md leads to every page of docs/, and is short', () => {
  const readme = textOf('README.md')
  const linked = linksOf(readme).map((link) => link.split('#')[0])
  assert.deepEqual(
    docs.filter((name) => !linked.includes(`docs/${name}`)),
    [],
  )
  assert.ok(readme.split('\n').length <= 250, `README.md has ${readme.split('\n').length} lines`)
})

test('every picture of charts/measured is shown somewhere', () => {
  const shown = new Set(pages.flatMap((page) => linksOf(textOf(page)).map((link) => link.split('/').at(-1))))
  assert.deepEqual(
    readdirSync(join(root, 'charts/measured')).filter((name) => !shown.has(name)),
    [],
  )
})

test('the first two commands are npm start and npm test', () => {
  const [first, second] = commandsOf(textOf('README.md'))
  assert.deepEqual(
    [first, second],
    [
      ['npm', 'start'],
      ['npm', 'test'],
    ],
  )
})

describe('command lines parse', () => {
  /** @type {{ page: string, words: string[] }[]} words behind `node`, `npm run` being resolved */
  const commands = pages.flatMap((page) =>
    commandsOf(textOf(page)).map((words) => ({
      page,
      words: behindProgram(words),
    })),
  )
  const ofFile = (/** @type {string[]} */ ...files) =>
    commands.filter(({ words }) => files.includes(words[0]))

  test('of the programs', () => {
    const programs = /** @type {const} */ ({
      'producer.js': 'producer',
      'consumer.js': 'consumer',
      'scripts/cleanup.js': 'cleanup',
      'scripts/reshard.js': 'reshard',
      'scripts/verify.js': 'consumer',
    })
    const found = ofFile(...Object.keys(programs))
    assert.ok(found.length > 20)
    for (const { page, words } of found) {
      const [file, ...argv] = words
      // Their first word is no option.
      if (/reshard|verify/.test(file)) argv.shift()
      const program = programs[/** @type {keyof typeof programs} */ (file)]
      assert.doesNotThrow(() => readSettings({ program, argv, env: {} }), `${page}: ${words.join(' ')}`)
    }
  })

  test('of experiments: what they name exists', () => {
    for (const { page, words } of ofFile('scripts/experiment.js')) {
      const [, command, ...rest] = words
      const end = rest.findIndex((word) => word.startsWith('-'))
      const names = rest.slice(0, end < 0 ? rest.length : end).filter((word) => word !== 'figures')
      assert.ok(['list', 'show', 'run'].includes(command), `${page}: ${words.join(' ')}`)
      for (const name of names) assert.ok(experimentNamed(name), `${page}: ${words.join(' ')}`)
    }
  })

  const parsed = ['experiment', 'report', 'cloudwatch', 'faults', 'soak', 'bench', 'readme']
  for (const name of parsed)
    test(`of scripts/${name}.js, by its own parser`, async () => {
      const options = ofFile(`scripts/${name}.js`).flatMap(({ page, words }) => {
        const end = words.indexOf('--', 1)
        const behind = end < 0 ? [] : words.slice(end + 1)
        // Options behind -- would be taken for words.
        assert.ok(!behind.some((word) => word.startsWith('-')), `${page}: ${words.join(' ')}`)
        return words.slice(1, end < 0 ? words.length : end)
      })
      assert.ok(options.length > 0, 'no line of the documentation shows it')
      // Options are checked before --help is obeyed.
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [`scripts/${name}.js`, '--help', ...options],
        { cwd: root },
      )
      assert.match(stdout, /^Usage: /)
    })

  for (const name of ['compare', 'diff', 'staff'])
    test(`of millrace ${name}, by its own parser`, async () => {
      const found = ofFile('lib/cli/millrace.js').filter(({ words }) => words[1] === name)
      assert.ok(found.length > 0, 'no line of the documentation shows it')
      const options = found.flatMap(({ page, words }) => {
        const end = words.indexOf('--')
        // Of compare these are options of the producer.
        const behind = end < 0 ? [] : words.slice(end + 1)
        const both = () => readSettings({ program: 'producer', argv: behind, env: {} })
        if (name === 'compare') assert.doesNotThrow(both, `${page}: ${words.join(' ')}`)
        return words.slice(2, end < 0 ? words.length : end)
      })
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['lib/cli/millrace.js', name, '--help', ...options],
        { cwd: root },
      )
      assert.match(stdout, /Usage: millrace/)
    })

  test('of other scripts: the file exists', () => {
    for (const { page, words } of commands)
      assert.ok(existsSync(join(root, words[0])), `${page}: ${words.join(' ')}`)
  })
})

/** @param {string[]} words @returns {string[]} */
function behindProgram(words) {
  if (words[0] === 'npm') return ofNpm(words)
  return words[0] === 'millrace' ? ['lib/cli/millrace.js', ...words.slice(1)] : words.slice(1)
}

/**
 * `npm run bench -- --quick` as `scripts/bench.js --quick`.
 * @param {string[]} words
 * @returns {string[]}
 */
function ofNpm([, command, ...rest]) {
  if (command === 'ci') return ['package-lock.json']
  const [name, ...args] = command === 'run' ? rest : [command, ...rest]
  assert.ok(name in scripts, `npm run ${name}: package.json has no such script`)
  const [node, file] = scripts[name].split(' ')
  return [node === 'node' ? file : 'package.json', ...args.filter((word) => word !== '--')]
}

test('examples are valid experiments', () => {
  const examples = readdirSync(join(root, 'docs/examples')).filter((name) => name.endsWith('.json'))
  assert.ok(examples.length >= 4)
  for (const name of examples) {
    const { id, ratios = [] } = experimentNamed(join(root, 'docs/examples', name))
    assert.equal(`${id}.json`, name)
    assert.ok(ratios.length > 0, name)
  }
})
