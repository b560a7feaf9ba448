// What CONTRIBUTING says of a new strategy, measure and option, typed into a copy of the tree: with all of its steps they work,
// and a step that is left out fails with what to do.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testEnvironment } from '../../scripts/test.js'
import { ownFolder } from '../helpers/programs.js'

/** @import { Scope } from '../helpers/servers.js' */

const root = fileURLToPath(new URL('../..', import.meta.url))
const parts =
  'charts docs lib lua package.json producer.js consumer.js README.md scripts settings.js test'.split(' ')
parts.push('tsconfig.json', '.env.example', 'CONTRIBUTING.md', 'CHANGELOG.md', 'AGENTS.md')

/** A copy of the tree, and what is done in it. @param {Scope} t @param {string} name */
const treeOf = (t, name) => {
  const folder = ownFolder(t, name)
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const runtime = ownFolder(t, `${name}-runtime`)
  const path = (/** @type {string} */ file) => join(folder, file)
  return {
    /** @param {string} file @param {string} text */
    write: (file, text) => writeFileSync(path(file), text),
    /** @param {string} file @param {string} text that is there once @param {string} more in its place */
    change: (file, text, more) => {
      const before = readFileSync(path(file), 'utf8')
      assert.equal(before.split(text).length, 2, `${file} has '${text}' once`)
      writeFileSync(
        path(file),
        before.replace(text, () => more),
      )
    },
    hasResults: () => existsSync(path('results')),
    /** run.json of the one run. */
    result: () => {
      const [run] = readdirSync(path('results'))
      return JSON.parse(readFileSync(join(path('results'), run, 'run.json'), 'utf8'))
    },
    /** What a program says, and whether it ended well. @param {string[]} args */
    node: async (...args) => {
      const given = {
        cwd: folder,
        timeout: 180_000,
        maxBuffer: 1e8,
        // It would attach to a local server of a program that another file plays.
        env: { ...testEnvironment(process.env), NODE_OPTIONS: '', XDG_RUNTIME_DIR: runtime },
      }
      return promisify(execFile)(process.execPath, args, given).then(
        ({ stdout, stderr }) => ({ ok: true, text: stdout + stderr }),
        ({ stdout, stderr }) => ({ ok: false, text: String(stdout) + stderr }),
      )
    },
  }
}

/** @param {ReturnType<typeof treeOf>} tree */
const registered = (tree) => tree.node('test/unit/registered.test.js')
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.newest.json', '--incremental', 'false']

const strategy = (/** @type {string} */ kept) => `// Ids in a sorted set that is cut to the newest.
import { byId, each, every, family, gather, get, ids, many, strategy, sum, time } from '../declare.js'
import { itemKeys, play, value, workload } from './parts.js'

export const newest = strategy({
  workload,
  name: 'newest',
  title: 'ids in a sorted set that is cut to the newest, each value under its own key',
  keys: (t) => ({ item: itemKeys(t), newest: family('latest-newest', 'zset', { lifetimeS: t.lingerS, holds: t.live.kept }) }),
  operations: (t, k) => ({
    store: [
      each('SETEX', [k.item, t.ttlS, value(t)]),
      gather('ZADD', [k.newest, many(time, k.item)], { max: t.maxMembers }),
      every(0, 'ZREMRANGEBYRANK', [k.newest, 0, ${kept}]),
      every(0, 'EXPIRE', [k.newest, t.lingerS]),
    ],
  }),
  play,
  read: {
    fetch: (t, k) => ({
      asks: [sum('cardinality', 'ZCARD', [k.newest]), ids('ZREVRANGE', [k.newest, 0, t.limit - 1], 'members')],
      value: get,
      dated: false,
      unique: true,
    }),
    ids: (k) => k.item,
  },
  check: { items: () => [byId] },
  repeat: 'safe',
})
`

test('a strategy is a file, a line of the list, and npm run readme', async (t) => {
  const tree = treeOf(t, 'strategy')
  const list = 'lib/workloads/index.js'
  tree.write('lib/workloads/latest/newest.js', strategy('-1 - t.kep'))
  const unlisted = await registered(tree)
  assert.match(
    unlisted.text,
    /declares the strategy newest, which lib\/workloads\/index\.js does not list: add it/,
  )
  tree.change(
    list,
    "import { set } from './latest/set.js'",
    "import { newest } from './latest/newest.js'\nimport { set } from './latest/set.js'",
  )
  tree.change(list, '\n  stream,\n', '\n  stream,\n  newest,\n')
  // The whole tree takes half a minute.
  const only = { extends: './tsconfig.json', include: ['lib/workloads/latest/newest.js'] }
  tree.write('tsconfig.newest.json', JSON.stringify(only))
  const mistyped = await tree.node(...tsc)
  assert.match(mistyped.text, /newest\.js.*Property 'kep' does not exist/)
  tree.write('lib/workloads/latest/newest.js', strategy('-1 - t.kept'))
  const undocumented = await registered(tree)
  assert.match(undocumented.text, /no row of newest: run npm run readme/)
  const made = await tree.node('scripts/readme.js')
  assert.ok(made.ok, made.text)
  const whole = await registered(tree)
  assert.ok(whole.ok, whole.text)
  const line = '--strategy newest -q 40 -p 100 --intervals 5 --ttl 30 --idle-cost never --out results'
  const ran = await tree.node('producer.js', ...line.split(' '))
  assert.ok(tree.hasResults(), ran.text)
  assert.equal(tree.result().items.acked, 200, ran.text)
})

const measure = `// How often the event loop was asked, a made-up number.
import { amount } from './fields.js'
import { figure, metric } from './measure.js'

/** @import { Measure } from './measure.js' */

/** @type {Measure} */
export const turns = {
  name: 'turns',
  record: { 'client.turns': amount('count') },
  by: 'each',
  open: () => ({ second: () => ({ 'client.turns': 1 }) }),
  summary: ({ window }) => ({ 'client.turns': window['client.turns'] ?? null }),
  result: { 'client.turns': figure },
  metrics: { 'client.turns': metric('turns of the client', 'count', 'neither') },
}
`

test('a measure is a file and a place in the list', async (t) => {
  const tree = treeOf(t, 'measure')
  tree.write('lib/measures/turns.js', measure)
  const unlisted = await registered(tree)
  assert.match(
    unlisted.text,
    /declares the measure turns, which lib\/measures\/index\.js does not list: add it/,
  )
})

test('an option is a row of settings.js with help, and npm run readme', async (t) => {
  const tree = treeOf(t, 'option')
  const row = "    { name: 'seed',"
  const added = (/** @type {string} */ help) =>
    `    { name: 'jitter', key: 'jitter', type: 'flag', help: '${help}' },\n${row}`
  tree.change('settings.js', row, added(''))
  const helpless = await registered(tree)
  assert.match(helpless.text, /--jitter has no help: write it in its row of settings\.js/)
  tree.change('settings.js', added(''), added('a made-up option'))
  const undocumented = await registered(tree)
  assert.match(undocumented.text, /no --jitter: run npm run readme/)
})
