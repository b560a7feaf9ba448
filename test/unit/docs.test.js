// README.md and docs/: links, anchors and command lines are right, and examples are valid.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { commandIn, commandNamed, commands } from '../../lib/cli/commands.js'
import { withStrategies } from '../../lib/cli/typed-strategies.js'
import { experimentNamed } from '../../lib/experiments/catalogue.js'
import { typedLine } from '../../lib/options/command-line.js'
import { readSettings, settingsOf } from '../../lib/options/read-settings.js'
import { VALUE_TYPES } from '../../lib/options/values.js'
import { anchorsOf, commandsOf, linksOf } from '../helpers/markdown.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const textOf = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8')
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const pages = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs]
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
  // The page of each experiment is one click further.
  const results = 'docs/reference/results.md'
  const all = [...linked, ...linksOf(textOf(results)).map((link) => normalize(join(dirname(results), link)))]
  const missing = docs.filter((name) => !all.includes(name))
  assert.deepEqual(missing, [])
  const { length } = readme.split('\n')
  assert.ok(length <= 150, `README.md has ${length} lines`)
})

test('every picture of charts/measured is shown somewhere', () => {
  const shown = new Set(pages.flatMap((page) => linksOf(textOf(page)).map((link) => link.split('/').at(-1))))
  const hidden = readdirSync(join(root, 'charts/measured')).filter((name) => !shown.has(name))
  assert.deepEqual(hidden, [])
})

test('the first command is npm start', () => {
  const [first] = commandsOf(textOf('README.md'))
  assert.deepEqual(first, ['npm', 'start'])
})

test('README.md and the guides, which are the pages of docs/ itself, have 20,000 words at most, and a page 2,500', () => {
  const guides = docs.filter((page) => dirname(page) === 'docs')
  const lengths = ['README.md', ...guides].map((page) => ({
    page,
    words: textOf(page).split(/\s+/).filter(Boolean).length,
  }))
  const all = lengths.reduce((sum, { words }) => sum + words, 0)
  assert.ok(guides.length >= 12 && all <= 20_000, `${all} words`)
  const long = lengths.filter(({ words }) => words > 2500)
  assert.deepEqual(long, [])
})

test('a page of docs/ has 2,500 words at most, but for two that are one table', () => {
  const tables = ['docs/reference/options.md', 'docs/reference/results/versions.md']
  // The bars of tables are no words.
  const wordsOf = (/** @type {string} */ page) =>
    textOf(page)
      .split(/\s+/)
      .filter((word) => /[\p{L}\d]/u.test(word)).length
  const long = docs.filter((page) => wordsOf(page) > 2500)
  assert.deepEqual(long.sort(), tables)
})

describe('command lines parse', () => {
  /** @type {{ page: string, words: string[] }[]} words behind `node`, `npm run` being resolved */
  const lines = pages.flatMap((page) =>
    commandsOf(textOf(page)).map((words) => ({ page, words: behindProgram(words) })),
  )
  const ofFile = (/** @type {string[]} */ ...files) => lines.filter(({ words }) => files.includes(words[0]))

  const files = /** @type {Record<string, string>} */ ({
    'producer.js': 'write',
    'consumer.js': 'read',
    'scripts/compare.js': 'diff',
    ...Object.fromEntries(Object.keys(commands).map((name) => [`scripts/${name}.js`, name])),
  })
  delete files['scripts/write.js']

  test('of the commands, by their own parser', async () => {
    const seen = new Set()
    for (const { page, words } of lines) {
      const behind = commandIn(words.slice(1))
      const isCommand = words[0] === 'lib/cli/millrace.js' && behind.name in commands
      const name = isCommand ? behind.name : files[words[0]]
      if (name === undefined) continue
      seen.add(name)
      const argv = isCommand ? behind.argv : words.slice(1)
      const { options, passed = [], takesWords, takesStrategy, takesModel } = await commandNamed(name)
      const typed = typedLine(argv, [...options, ...passed])
      if (typed.help) continue
      // Files that a reader writes are not there; those of docs/examples are.
      const isThere = (/** @type {string} */ file) => existsSync(join(root, file))
      const given = new Map([...typed.options].filter(([option, file]) => option !== 'file' || isThere(file)))
      const line = `${page}: ${words.join(' ')}`
      const asTyped = { ...typed, options: given }
      const whole = takesStrategy
        ? withStrategies(asTyped, { filesAre: takesModel ? 'model' : undefined })
        : asTyped
      assert.doesNotThrow(() => settingsOf(whole, options, { env: {}, takesWords }), line)
      const end = argv.indexOf('--')
      if (name !== 'compare' || end < 0) continue
      const rest = { program: /** @type {const} */ ('producer'), argv: argv.slice(end + 1), env: {} }
      assert.doesNotThrow(() => readSettings(rest), line)
    }
    const unseen = Object.keys(commands).filter((name) => !seen.has(name))
    assert.deepEqual(unseen, [], 'no line of the documentation shows these')
  })

  test('of experiments: what they name exists', () => {
    const seen = new Set()
    for (const { page, words: all } of ofFile('scripts/experiment.js', 'lib/cli/millrace.js')) {
      const words = all[0].endsWith('millrace.js') ? all.slice(1) : all
      if (!words[0]?.includes('experiment')) continue
      const [, command, ...rest] = words
      const end = rest.findIndex((word) => word.startsWith('-'))
      const names = rest.slice(0, end < 0 ? rest.length : end).filter((word) => word !== 'figures')
      assert.ok(['list', 'show', 'run'].includes(command), `${page}: ${words.join(' ')}`)
      for (const name of names.filter((one) => !seen.has(one)))
        assert.ok(seen.add(name) && experimentNamed(name), `${page}: ${words.join(' ')}`)
    }
  })

  for (const name of ['faults', 'soak', 'bench', 'readme'])
    test(`of scripts/${name}.js, by what its --help prints`, () => {
      const options = ofFile(`scripts/${name}.js`).flatMap(({ words }) => words.slice(1))
      assert.ok(options.length > 0, 'no line of the documentation shows it')
      const [, usage] = /^const usage = `(.*?)`$/ms.exec(textOf(`scripts/${name}.js`)) ?? assert.fail()
      for (const word of options.filter((one) => one.startsWith('-'))) assert.ok(usage.includes(word), word)
    })

  test('of other scripts: the file exists', () => {
    for (const { page, words } of lines)
      assert.ok(existsSync(join(root, words[0])), `${page}: ${words.join(' ')}`)
  })
})

/** @param {string[]} words @returns {string[]} */
function behindProgram(words) {
  if (words[0] === 'npm') return ofNpm(words)
  return words[0] === 'millrace' ? ['lib/cli/millrace.js', ...words.slice(1)] : words.slice(1)
}

/** `npm run bench -- --quick` as `scripts/bench.js --quick`. @param {string[]} words @returns {string[]} */
function ofNpm([, command, ...rest]) {
  if (['ci', 'install', 'link', 'pack', 'version'].includes(command)) return ['package-lock.json']
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

test('files of options to copy have options of their command, with values that these take', async () => {
  for (const [command, file] of [
    ['write', 'load.yaml'],
    ['write', 'traffic.yaml'],
    ['choose', 'choose.yaml'],
    ['plan', 'plan.yaml'],
  ]) {
    const { options } = await commandNamed(command)
    const given = Object.entries(parse(textOf(`docs/examples/${file}`)))
    assert.ok(given.length >= 5, file)
    for (const [name, values] of given) {
      const option = options.find((one) => one.name === name) ?? assert.fail(`${file}: ${name}`)
      for (const value of [values].flat())
        assert.notEqual(VALUE_TYPES[option.type].read(String(value), option), undefined, `${file}: ${name}`)
    }
  }
})

test('how many boxes: the table is what the figures above it come to', () => {
  const page = readFileSync(join(root, 'docs/fleet.md'), 'utf8')
  const [, table] = /<!-- boxes:start -->([\s\S]*?)<!-- boxes:end -->/.exec(page) ?? []
  const rows = table.trim().split('\n').slice(2)
  const baselines = ['c7g.large', 'c7g.2xlarge', 'c7gn.large'].map((name) =>
    Number(new RegExp(`\\| ${name} \\| \\d+ \\| ([\\d.]+) \\|`).exec(page)?.[1]),
  )
  assert.ok(rows.length >= 6 && baselines.every((gbit) => gbit > 0))
  for (const row of rows) {
    const cells = row.split('|').slice(1, -1)
    const [rate, value, gbit, cores, ...boxes] = cells.map((cell) => Number(cell.replace(/[, B]/g, '')))
    assert.equal(gbit, +((rate * (value + 88) * 8 * 1.05) / 1e9).toFixed(2), row)
    // 0.5 µs an item, and 4 % of a core for each process.
    assert.equal(cores, +(rate * 0.5e-6 + 0.04).toFixed(2), row)
    const byThread = (rate * 0.5e-6) / (0.6 - 0.04)
    const needed = baselines.map((baseline) => Math.ceil(Math.max(gbit / (0.7 * baseline), byThread)))
    assert.deepEqual(boxes, needed, row)
  }
})
