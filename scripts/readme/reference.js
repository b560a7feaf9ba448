// Parts of docs/ that name what the code has: metrics, Prometheus series, key names, the rights of a user, experiments.

import { experimentById, experimentIds } from '../../lib/experiments/catalogue.js'
import { cellsOf } from '../../lib/experiments/matrix.js'
import { metricsOf } from '../../lib/report/metrics.js'
import { METRICS } from '../../lib/result/metrics.js'
import { planKey } from '../../lib/servers/announcements.js'
import { leaseKey } from '../../lib/servers/leases.js'
import { familiesOf } from '../../lib/workloads/derive.js'
import { planFieldsOf } from '../../lib/workloads/fields.js'
import { allStrategies, defaultStrategy, strategyNamed } from '../../lib/workloads/index.js'
import { mixPlaceholders, placeholders } from '../../lib/workloads/own/template.js'
import { aclWords, rightsOf, rightsOfAll, userOf } from '../../lib/workloads/rights.js'

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {string[]} titles @param {string[][]} rows */
export const table = (titles, rows) =>
  [
    `| ${titles.join(' | ')} |`,
    `|${' --- |'.repeat(titles.length)}`,
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n')

const unitNames = {
  us: 'µs',
  ms: 'ms',
  s: 's',
  pct: '%',
  bytes: 'bytes',
  mb: 'MB',
  count: 'number',
  rate: 'per second',
  ratio: 'part of 1',
}

/** Every metric of a run, by the name that thresholds, comparisons and experiments use. */
export const metricsPart = () =>
  table(
    ['metric', 'meaning', 'unit', 'better'],
    METRICS.map(({ name, title, unit, better }) => [
      code(name),
      title,
      unitNames[unit],
      better === 'neither' ? '' : better,
    ]),
  )

/** The series of --metrics, as the registry declares them. */
export const prometheusPart = () => {
  const { registry } = metricsOf({ run: 'docs', kind: 'producer', nominal: null })
  const series = registry
    .getMetricsAsArray()
    .map(
      (metric) =>
        /** @type {{ name: string, help: string, type: string }} */ (/** @type {unknown} */ (metric)),
    )
  return table(
    ['series', 'type', 'meaning'],
    series.map(({ name, help, type }) => [code(name), type, help]),
  )
}

const rounds = 3

/** The built-in experiments, and how many runs they take. */
export const experimentsPart = () => {
  const all = experimentIds().map(experimentById)
  const cells = all.map((experiment) => cellsOf(experiment, { scale: 1 }).length)
  const runs = rounds * cells.reduce((sum, n) => sum + n, 0)
  return [
    table(
      ['experiment', 'question', 'cells'],
      all.map(({ id, question }, i) => [code(id), question, String(cells[i])]),
    ),
    `All ${all.length} in ${rounds} rounds are ${runs} runs; \`--all --dry-run\` prints how long they take on this machine.`,
  ].join('\n\n')
}

/** The placeholders in the commands of a model. @param {Record<string, string>} [known] */
export const placeholdersPart = (known = placeholders) =>
  table(
    ['placeholder', 'meaning'],
    Object.entries(known).map(([name, meaning]) => [
      code(name === 'random' ? '{random a b}' : `{${name}}`),
      meaning,
    ]),
  )

/** Those of a mix. */
export const mixPlaceholdersPart = () => placeholdersPart(mixPlaceholders)

/** @import { Command, Declaration, Family } from '../../lib/workloads/declare.js' */

const terms = {
  prefix: '',
  quantity: 1000,
  ttlS: 3,
  once: false,
  valueBytes: 128,
  payload: /** @type {const} */ ('random'),
  seed: 1,
  stamp: false,
  extraSets: [''],
  buckets: 10,
}

/** What options change in the names of keys. */
const placements = /** @type {const} */ ([
  { option: '', sets: 1, placement: 'plain' },
  { option: '`--ns N`', sets: 2, placement: 'plain' },
  { option: '`--ns N --same-slot`', sets: 2, placement: 'same-slot' },
  { option: '`--ns N --spread`', sets: 2, placement: 'spread' },
])

/** `item:<n>` @param {Family} family */
const patternOf = ({ parts }) =>
  code(parts.map((part) => (typeof part === 'string' ? part : `<${part.variable}>`)).join(''))

/** @param {string} [readers] what consumers read */
const leasePattern = (readers) =>
  code(leaseKey({ prefix: '', totalAgents: 1, readers }, 1).replace(/1$/, '<agent>'))

/** The keys of every strategy, as its declaration names them, and those of every run. */
export const keysPart = () => {
  /** @type {Map<string, { type: string, strategies: Set<string>, option: string }>} */
  const found = new Map()
  for (const { option, sets, placement } of placements)
    for (const declared of allStrategies()) {
      const taggedItems = declared.play.oneSlot && placement === 'spread'
      const strategy = declared.name
      const own = planFieldsOf({
        ...terms,
        strategy,
        sets: Array.from({ length: sets }, () => ''),
        placement,
        taggedItems,
      })
      for (const family of familiesOf(declared.keys(own))) {
        const name = patternOf(family)
        const known = found.get(name) ?? { type: family.type, strategies: new Set(), option }
        known.strategies.add(declared.name)
        if (family.pattern.includes('-extra')) known.option = '`--with extra-sorted-sets=N`'
        found.set(name, known)
      }
    }
  return table(
    ['key', 'type', 'strategies', 'with'],
    [
      ...[...found].map(([name, { type, strategies, option }]) => [
        name,
        type,
        [...strategies].join(', '),
        option,
      ]),
      [code(planKey('')), 'hash', 'every run: its plan', ''],
      [leasePattern(), 'string', 'a writer: its lease', '`-a auto`'],
      [leasePattern('<strategy>'), 'string', 'a consumer: its lease', '`-a auto`'],
    ],
  )
}

/** @param {Command} command */
const commandText = ({ name, args }) => {
  const script = args.find((arg) => typeof arg === 'object' && 'script' in arg)
  return script ? `${name} lua/${/** @type {any} */ (script).script}.lua` : name
}

/** What a strategy's writers send. @param {Declaration} declared */
const commandsIn = (declared) => {
  const strategy = declared.name
  const own = planFieldsOf({
    ...terms,
    strategy,
    extraSets: [],
    sets: [''],
    placement: 'plain',
    taggedItems: false,
  })
  const operations = declared.operations(own, declared.keys(own))
  return declared.play.operations.flatMap((name) => operations[name])
}

/** Whether an item whose reply was lost may be written again. @param {string} name of a strategy */
export const isSafeToRetry = (name) => {
  const declared = strategyNamed(name)
  return commandsIn(declared).every(({ repeat = declared.repeat }) => repeat === 'safe')
}

/** The commands of a strategy, as its declaration has them. */
export const strategiesPart = () => {
  const kinds = /** @type {const} */ ([['each', 'ask'], ['gather'], ['every']])
  return table(
    ['strategy', 'option', 'model', 'per item', 'for many items at once', 'regularly'],
    allStrategies().map((declared) => {
      const commands = commandsIn(declared)
      const flags = declared.flags.map((flag) => code(`--${flag.name}`))
      const names = kinds.map((some) =>
        [...new Set(commands.filter(({ kind }) => some.some((one) => one === kind)).map(commandText))].join(
          ', ',
        ),
      )
      const usual = declared.name === defaultStrategy ? 'default' : code(`--strategy ${declared.name}`)
      return [code(declared.name), flags.join(' ') || usual, declared.title, ...names]
    }),
  )
}

/** @param {Declaration} declared */
const isOfLine = ({ workload, variants }) => workload === 'latest' && variants === null

/** The ACL line of a user for the strategies of latest items, and what others need besides; a test plays them all as that user. */
export const aclPart = () => {
  const all = allStrategies()
  const given = rightsOfAll(all.filter(isOfLine))
  /** @type {Map<string, string[]>} */
  const rows = new Map()
  for (const declared of all.filter((one) => !isOfLine(one))) {
    const { keys, commands } = rightsOf(declared)
    const words = aclWords({
      keys: keys.filter((key) => !given.keys.includes(key)),
      commands: commands.filter((name) => !given.commands.includes(name)),
    }).join(' ')
    rows.set(words, [...(rows.get(words) ?? []), declared.name])
  }
  return [
    '```',
    `ACL SETUSER millrace on >PASSWORD ${userOf(all.filter(isOfLine)).join(' ')}`,
    '```',
    '',
    table(
      ['strategies', 'besides'],
      [...rows].map(([words, names]) => [names.map(code).join(', '), code(words)]),
    ),
  ].join('\n')
}
