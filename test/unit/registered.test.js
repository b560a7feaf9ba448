// A file that declares something is named in the list that the table 'How to add' of CONTRIBUTING says, and what is registered
// is complete. Each failure says what to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandNamed, commands } from '../../lib/cli/commands.js'
import { MEASURES } from '../../lib/measures/index.js'
import { anyPlan } from '../../lib/workloads/any-plan.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { family } from '../../lib/workloads/declare.js'
import { familiesOf, keyFaults } from '../../lib/workloads/derive.js'
import { planFieldsOf } from '../../lib/workloads/fields.js'
import { allStrategies, register, registerModel, strategyNamed } from '../../lib/workloads/index.js'
import { rightsOf } from '../../lib/workloads/rights.js'
import {
  everywhere,
  OPTIONS,
  optionFaults,
  optionsOf,
  ownOptions,
  registeredOptions,
  typedName,
} from '../../settings.js'
import { modulesIn, sourceOf } from '../helpers/sources.js'

/** What a module exports. @param {string} path @returns {Promise<[string, unknown][]>} */
const exportsOf = async (path) =>
  Object.entries(await import(new URL(`../../${path}`, import.meta.url).href)).filter(
    ([, one]) => one !== null,
  )

test('a strategy is in the list of lib/workloads/index.js', async () => {
  const named = new Set(allStrategies().map(({ name }) => name))
  const declares = /from '(\.\.|\.)\/declare\.js'/
  const modules = modulesIn('lib/workloads').filter((path) => declares.test(sourceOf(path)))
  let found = 0
  for (const path of modules)
    for (const one of (await exportsOf(path)).flatMap(([, exported]) => exported)) {
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
  for (const path of modulesIn('lib/measures'))
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
    const why = `docs/reference/data-models.md has no row of ${name}: run npm run readme`
    assert.ok(models.includes(`\`${name}\``), why)
    const row = safety.split('\n').find((text) => text.startsWith('|') && text.includes(`\`${name}\``)) ?? ''
    const given = new Set(`${line} ${row.replaceAll('\\|', '|')}`.split(/[ `]+/))
    const needed = [...keys.map((key) => `~${key}`), ...commands.map((command) => `+${command}`)]
    const lacking = needed.filter((word) => !given.has(word))
    const less = `docs/reference/safety.md gives ${name} less than it needs: run npm run readme`
    assert.deepEqual(lacking, [], less)
  }
})

test('an option has help and a row in the docs', () => {
  const page = sourceOf('docs/reference/options.md')
  for (const option of OPTIONS) {
    const named = typedName(option)
    const row = option.with ? `| \`${option.name}\` |` : named
    assert.ok(option.help, `${named} has no help: write it in its row of settings.js`)
    assert.ok(page.includes(row), `docs/reference/options.md has no ${named}: run npm run readme`)
  }
})

test('a spelling and a variable are of one option of a program and of a command', async () => {
  for (const program of /** @type {const} */ (['producer', 'consumer', 'cleanup', 'reshard']))
    assert.deepEqual(optionFaults(optionsOf(program)), [], program)
  for (const name of Object.keys(commands))
    assert.deepEqual(optionFaults([...(await commandNamed(name)).options, ...everywhere]), [], name)
})

test('an option whose spelling or variable another one has is refused', () => {
  const [seed, other] = ownOptions('Output', [
    { name: 'seed', env: 'MILLRACE_SEED', type: 'flag', help: 'a' },
    { name: 'grain', also: ['seed'], alsoEnv: ['MILLRACE_SEED'], type: 'flag', help: 'b' },
  ])
  const faults = [
    "the option '--seed' is of 'seed, Output' and of 'grain, Output': give one of them another name",
    "the variable 'MILLRACE_SEED' is of 'seed, Output' and of 'grain, Output': give one of them another name",
  ]
  assert.deepEqual(optionFaults([seed, other]), faults)
  assert.throws(() => registeredOptions([seed, other]), { message: `options: ${faults[0]}` })
})

test('a flag of a strategy that an option or another strategy has is refused', () => {
  const flag = { ...OPTIONS[0], name: 'cluster', on: 'sorted-set' }
  const twice = /^the option '--cluster' is of 'cluster, .*' and of 'the strategy sorted-set': give/
  assert.match(optionFaults([...optionsOf('producer'), flag])[0], twice)
  const list = strategyNamed('list')
  assert.throws(() => register({ ...list, name: 'another' }), {
    message: `lib/workloads: the flag '${list.flags[0].name}' is of 'list' and of 'another': give one of them another name`,
  })
})

/** @param {ReturnType<typeof strategyNamed>} declared @param {object} choice */
const claimed = (declared, choice) => {
  const variant = declared.variants ? Object.keys(declared.variants)[0] : null
  const fields = planFieldsOf({ ...anyPlan, ...choice, ttlS: 2, variant, strategy: declared.name })
  return { name: declared.name, workload: declared.workload, families: familiesOf(declared.keys(fields)) }
}

test('keys of one pattern have one meaning', () => {
  const all = allStrategies().filter(({ workload }) => workload !== 'own')
  const spread = { taggedItems: true, placement: /** @type {const} */ ('spread') }
  for (const choice of [{ sets: [''] }, { sets: ['', ''] }, { ...spread, sets: ['', ''] }])
    assert.deepEqual(keyFaults(all.map((declared) => claimed(declared, choice))), [])
})

test('key families that are claimed twice are refused', () => {
  const [one, other] = [family('a:{n}', 'string'), family('a:{n}', 'hash')]
  const types = "the key pattern of x 'a:{n}' is of 'string' and of 'hash': give one of them another name"
  assert.deepEqual(keyFaults([{ name: 'x', workload: 'w', families: [one, other] }]), [types])
  const two = (/** @type {object} */ options) => [
    { name: 'x', workload: 'w', families: [one] },
    { name: 'y', workload: 'v', families: [family('a:{n}', 'hash', options)] },
  ]
  const owners = "the key pattern 'a:{n}' is of 'w' and of 'v': give one of them another name"
  assert.deepEqual(keyFaults(two({})), [owners])
  assert.deepEqual(keyFaults(two({ owner: 'w' })), [])
})

test('a strategy whose keys are claimed twice is not played', (t) => {
  const list = strategyNamed('list')
  t.after(() => registerModel(list))
  const keys = () => ({ one: family('a:{n}', 'string'), other: family('a:{n}', 'hash') })
  registerModel({ ...list, keys })
  assert.throws(() => strategyOf({ ...anyPlan, strategy: 'list' }), {
    message: "the key pattern of list 'a:{n}' is of 'string' and of 'hash': give one of them another name",
  })
})
