// A file that declares something is named in the list that the table 'How to add' of CONTRIBUTING says, and what is registered
// is complete. Each failure says what to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEASURES } from '../../lib/measures/index.js'
import { allStrategies } from '../../lib/workloads/index.js'
import { rightsOf } from '../../lib/workloads/rights.js'
import { OPTIONS } from '../../settings.js'
import { modulesIn, sourceOf } from '../helpers/sources.js'

/** What a module exports. @param {string} path @returns {Promise<[string, unknown][]>} */
const exportsOf = async (path) =>
  Object.entries(await import(new URL(`../../${path}`, import.meta.url).href)).filter(
    ([, one]) => one !== null,
  )

/** Modules of a folder and its folders. @param {string} folder */
const within = (folder) => modulesIn(folder)

test('a strategy is in the list of lib/workloads/index.js', async () => {
  const named = new Set(allStrategies().map(({ name }) => name))
  const modules = within('lib/workloads').filter((path) =>
    /from '(\.\.|\.)\/declare\.js'/.test(sourceOf(path)),
  )
  let found = 0
  for (const path of modules)
    for (const [, one] of await exportsOf(path)) {
      if (typeof one !== 'object' || one === null || !('workload' in one && 'repeat' in one && 'name' in one))
        continue
      found++
      assert.ok(
        named.has(String(one.name)),
        `${path} declares the strategy ${one.name}, which lib/workloads/index.js does not list: add it there`,
      )
    }
  assert.ok(found > 20, String(found))
})

test('a measure is in the list of lib/measures/index.js', async () => {
  const named = new Set(MEASURES.map(({ name }) => name))
  for (const path of within('lib/measures'))
    for (const [, one] of await exportsOf(path)) {
      if (typeof one !== 'object' || one === null || !('record' in one && 'summary' in one && 'name' in one))
        continue
      assert.ok(
        named.has(String(one.name)),
        `${path} declares the measure ${one.name}, which lib/measures/index.js does not list: add it to MEASURES and to the loads that have it`,
      )
    }
})

test('a strategy has keys, rights and a row in the docs', () => {
  const models = sourceOf('docs/reference/data-models.md')
  const safety = sourceOf('docs/reference/safety.md')
  const line = /^ACL SETUSER .*$/m.exec(safety)?.[0] ?? ''
  // Tests of own models share this process.
  for (const declared of allStrategies().filter(({ workload }) => workload !== 'own')) {
    const { name } = declared
    const { keys, commands } = rightsOf(declared)
    assert.ok(keys.length > 0, `${name} declares no keys, so it is not known what belongs to it`)
    assert.ok(
      models.includes(`\`${name}\``),
      `docs/reference/data-models.md has no row of ${name}: run npm run readme`,
    )
    const row = safety.split('\n').find((text) => text.startsWith('|') && text.includes(`\`${name}\``)) ?? ''
    const given = new Set(`${line} ${row.replaceAll('\\|', '|')}`.split(/[ `]+/))
    const needed = [...keys.map((key) => `~${key}`), ...commands.map((command) => `+${command}`)]
    const lacking = needed.filter((word) => !given.has(word))
    assert.deepEqual(
      lacking,
      [],
      `docs/reference/safety.md gives ${name} less than it needs: run npm run readme`,
    )
  }
})

test('an option has help and a row in the docs', () => {
  const page = sourceOf('docs/reference/options.md')
  for (const { name, help } of OPTIONS) {
    assert.ok(help, `--${name} has no help: write it in its row of settings.js`)
    assert.ok(page.includes(`--${name}`), `docs/reference/options.md has no --${name}: run npm run readme`)
  }
})
