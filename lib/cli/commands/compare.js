// `millrace compare A B ...`: runs the sides in turn, and says what differs and how sure that is.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { optionsOf, ownOptions } from '../../../settings.js'
import { programsEnv } from '../../base/child.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { withUndo } from '../../base/undo.js'
import { plainText, several } from '../../base/units.js'
import { millraceVersion } from '../../base/version.js'
import { benchmarkData, junit } from '../../compare/ci.js'
import { comparisonOfRounds } from '../../compare/comparison.js'
import { compareDocument } from '../../compare/document.js'
import { gateExitCode } from '../../compare/gates.js'
import { comparisonOfMany } from '../../compare/many.js'
import { compare as kit } from '../../compare/report.js'
import {
  cellOf,
  commonOptions,
  commonRequest,
  idOf,
  placeOfSide,
  requestedDifferences,
  sideRequests,
} from '../../compare/request.js'
import { roundsOf } from '../../compare/rounds.js'
import { serverPoolOf, shownTarget } from '../../experiments/experiment-servers.js'
import { optionWords, typedWords } from '../../experiments/options.js'
import { linesOf } from '../../experiments/programs.js'
import { seriesProgress, spanWords } from '../../experiments/progress.js'
import { runTurns } from '../../experiments/runner.js'
import { openMatrix } from '../../experiments/store.js'
import { hardware } from '../../experiments/summary.js'
import { refuseWords, typedLine } from '../../options/command-line.js'
import { missingFor } from '../../report/draw.js'
import { markdownReport } from '../../report/markdown.js'
import { writeFiles, writeRunPages } from '../../report/write-report.js'
import { fixedRounds, isDecided, untilSure } from '../../result/rounds-plan.js'
import { strategyNames } from '../../workloads/index.js'
import { printData } from '../answer.js'
import { gateOptions, readGate } from '../gate-options.js'
import { screenSay as say } from '../say.js'
import { interruptsOfSeries } from '../signals.js'

/**
 * @import { Round } from '../../compare/document.js'
 * @import { Typed } from '../../options/command-line.js'
 * @import { Asked, Command } from '../commands.js'
 * @import { Values } from '../../options/values.js'
 * @import { Comparison } from '../../compare/comparison.js'
 * @import { Gate } from '../../compare/gates.js'
 */

/** @param {unknown} data */
const json = (data) => `${JSON.stringify(data, null, 2)}\n`

/** By their names. @param {Comparison} comparison @param {Gate} gate @returns {Record<string, string>} */
const ciFiles = (comparison, gate) => ({
  'junit.xml': junit(comparison, gate),
  'benchmark-smaller.json': json(benchmarkData(comparison, 'less')),
  'benchmark-bigger.json': json(benchmarkData(comparison, 'more')),
})

/** How long the runs are, and how many. */
// biome-ignore format: a table, an option a row
const compareOptions = ownOptions('Options', [
  { name: 'rounds', type: 'integer', range: ['2', '1000'], otherwise: '6; with --until-sure at most 20', was: { 'max-rounds': '--rounds' },
    brief: 'rounds, each with a run of every side (6)', help: 'rounds, each with a run of every side' },
  { name: 'until-sure', type: 'flag', brief: 'stop when it can tell, 20 rounds at most',
    help: 'look after 6 rounds and after every second one further, and stop when it can tell. It still errs in 5 % of comparisons at most: a group-sequential t-test with alpha spending' },
  { name: 'duration', also: ['seconds'], key: 'seconds', type: 'seconds', unit: 's', range: ['1s', '24h'], default: '10s', brief: true, help: 'measured, of every run' },
  { name: 'warm-up', type: 'seconds', unit: 's', range: ['0s', '24h'], default: '3s', brief: true, help: 'time before that' },
  { name: 'seed', type: 'integer', range: ['0', '4294967295'], default: '1',
    help: 'of the order (behind --, that of the values)' },
  { name: 'dry-run', type: 'flag',
    brief: 'print how long it would take, and run nothing', help: 'print how many runs and how long, and run nothing' },
  { name: 'out', type: 'path', default: 'results/compare', brief: true, help: 'folder of the results' },
  { name: 'resume', type: 'flag',
    help: 'continue the newest comparison of the same terms; without it earlier rounds do not count' },
  { name: 'verbose', aliases: ['v'], was: { all: '--verbose' }, type: 'flag', help: 'metrics without a verdict too' },
  { name: 'json', type: 'flag', help: 'print compare.json' },
])

const [leastRounds, mostRounds] = [6, 200]

/** @param {Values} values @param {number} sides */
const planOf = ({ rounds, 'until-sure': untilSureAsked }, sides) => {
  if (!untilSureAsked) return fixedRounds(rounds ?? leastRounds, sides)
  if (rounds < leastRounds || rounds > mostRounds)
    throw new OptionError(`--rounds ${rounds}: with --until-sure from ${leastRounds} to ${mostRounds}`)
  return untilSure(leastRounds, rounds ?? 20, sides)
}

const passed = commonOptions.filter(({ name }) => !compareOptions.some((own) => own.name === name))

/** The options of both sides, from behind `--` and from in front of it. @param {Typed} typed */
const commonOf = ({ options, words, separator }) => {
  const behind = typedLine(separator === null ? [] : words.slice(separator), optionsOf('producer'))
  refuseWords(behind)
  const front = [...options].filter(([name]) => passed.some((option) => option.name === name))
  return commonRequest(new Map([...front, ...behind.options]))
}

/** @param {Typed} typed */
const requestOf = (typed) => {
  const given = typed.separator === null ? typed.words : typed.words.slice(0, typed.separator)
  if (given.length < 2)
    throw new OptionError(
      `compare takes two sides or more, not ${given.length}: millrace compare sorted-set list -q 50000 (--help explains more)`,
    )
  const common = commonOf(typed)
  const sides = sideRequests(given)
  return { sides, common, given, cells: sides.map((side) => cellOf(side, side.id, common)) }
}

/** Comparisons of these sides that came to a run. @param {string} outDir @param {string} id */
const earlierOf = async (outDir, id) => {
  const names = await readdir(outDir).catch(() => [])
  const own = names.filter((name) => name.endsWith(`-${id}`) || name.includes(`-${id}-`)).sort()
  const turnsOf = (/** @type {string} */ name) => linesOf(join(outDir, name, 'turns.ndjson')).catch(() => [])
  const turns = await Promise.all(own.map(turnsOf))
  return own.filter((_, at) => turns[at].some((turn) => Object(turn).legs.length > 0))
}

/**
 * The command line that asks for the same again.
 * @param {Values} values
 * @param {ReturnType<typeof requestOf>} request
 * @param {ReturnType<typeof planOf>} plan
 * @param {readonly string[] | null} shown the target
 */
const commandOf = ({ seconds, 'warm-up': warmUpS }, { given, common }, plan, shown) =>
  typedWords([
    ...['millrace', 'compare', ...given, '--duration', `${seconds}s`, '--warm-up', `${warmUpS}s`],
    ...(plan.looks.length > 1
      ? ['--until-sure', '--rounds', String(plan.rounds)]
      : ['--rounds', String(plan.rounds)]),
    ...optionWords(common.load),
    ...(shown ?? optionWords(common.where)),
  ])

/** @typedef {Awaited<ReturnType<typeof openMatrix>>} Store */

/**
 * What the rounds so far come to.
 * @param {{ request: ReturnType<typeof requestOf>, plan: ReturnType<typeof planOf>, gate: ReturnType<typeof readGate>, store: Store }} needs
 */
const findingsOf = ({ request: { sides }, plan, gate, store: { turns } }) => {
  const [a, b, ...more] = sides
  const settings = requestedDifferences(a, b, ...more)
  const { criticals } = plan
  if (more.length > 0) return comparisonOfMany({ sides, turns, settings, ...gate, criticals })
  const { rounds, warnings, ...rest } = roundsOf(turns)
  const comparison = comparisonOfRounds({
    baseline: a.name,
    other: b.name,
    rounds,
    settings,
    gate,
    criticals: criticals(rounds.length),
  })
  return {
    ...rest,
    counted: rounds.map(({ round }) => round),
    comparison: { ...comparison, warnings: [...warnings, ...comparison.warnings] },
  }
}

/**
 * The runs of rounds that count, with what has a verdict.
 * @param {Store} store
 * @param {ReturnType<typeof requestOf>['sides']} sides
 * @param {ReturnType<typeof findingsOf>} found
 * @returns {Round[]}
 */
const ranOf = ({ turns }, sides, { counted, comparison }) => {
  const names = new Set(comparison.rows.flatMap(({ primary, figure }) => (primary ? figure.name : [])))
  return counted.map((round) => ({
    round,
    runs: turns
      .filter((turn) => turn.round === round && turn.legs.length > 0)
      .map(({ cell, legs: [{ folder, figures }] }) => ({
        side: sides.find(({ id }) => id === cell)?.name ?? cell,
        folder,
        figures: Object.fromEntries(Object.entries(figures).filter(([name]) => names.has(name))),
      })),
  }))
}

/** @param {Store} store */
const serversOf = ({ turns }) => [...new Set(turns.flatMap(({ servers = [] }) => servers))]

/** @param {Store} store */
const serverWords = (store) =>
  serversOf(store)
    .map((name) => (/^\d/.test(name) ? `Redis ${name}` : name))
    .join(', ')

/** How the rounds were run, in words. @param {number} rounds @param {Values} values @param {readonly number[]} looks @param {number} sides */
const methodWords = (rounds, { seconds, 'warm-up': warmUpS }, looks, sides) =>
  `${several(rounds, 'round')} ${sides > 2 ? 'of all sides in random order' : 'in ABBA order'}, ${seconds} s measured after ${warmUpS} s${looks.length > 1 ? `, until sure (looks after ${looks.join(', ')} rounds; together they err in 5 % at most)` : ''}`

/**
 * compare.json
 * @param {ReturnType<typeof findingsOf>} found
 * @param {{ request: ReturnType<typeof requestOf>, plan: ReturnType<typeof planOf>, store: Store, values: Record<string, any>, about: { command: string, where: string, earlier: string[], spentMs: number } }} facts
 */
const documentOf = (found, { request: { sides }, plan: { looks }, store, values, about }) => {
  const { command, where, earlier, spentMs } = about
  return compareDocument(found.comparison, {
    valid: found.isValid,
    started: store.started,
    command,
    hardware: hardware(),
    method: methodWords(found.counted.length, values, looks, sides.length),
    where: `${serverWords(store)} on ${where}; ${hardware()}`,
    duration_s: store.spentS + Math.round(spentMs) / 1000,
    versions: { millrace: millraceVersion(), node: process.versions.node, servers: serversOf(store) },
    rate_factor: found.factor,
    rounds: ranOf(store, sides, found),
    stopping: looks.length > 1 ? { rule: 'alpha spending, Pocock shape', looks: [...looks] } : null,
    earlier,
  })
}

/** @param {Asked} asked */
const compare = async ({ settings: values, typed, env }) => {
  const gating = readGate(values)
  const { seconds, 'warm-up': warmUpS, seed, out: outDir } = values
  const request = requestOf(typed)
  const { sides, common, given, cells } = request
  const plan = planOf(values, sides.length)
  const { target } = placeOfSide(common.where)
  const shown = target ? shownTarget(target, env) : null
  const id = idOf(...sides)
  const [baseline, ...others] = sides.map(({ name }) => name)
  const question = `${others.join(', ')} against ${baseline}.`
  const timing = { seconds, warmUpS, repeat: plan.rounds }
  const clock = () => performance.now()
  const progress = seriesProgress({
    plan: [{ experiment: { id }, cells }],
    fixed: timing,
    onTarget: target !== null,
    startMs: clock(),
    say,
  })
  if (values['dry-run']) {
    const sure =
      plan.looks.length > 1 ? `, fewer if it can tell earlier (it looks after ${plan.looks.join(', ')})` : ''
    process.stdout.write(
      `${plainText(question)} ${cells.length} cells, ${several(plan.rounds, 'round')}: about ${spanWords(progress.leftMs())}${sure}\n`,
    )
    return ExitCode.done
  }
  const earlier = await earlierOf(outDir, id)
  const signal = interruptsOfSeries()
  const startMs = clock()
  const experiment = { id, question, cells: given.map((name) => ({ name })), options: common.load }
  const store = await openMatrix({
    outDir,
    fixed: { experiment, scale: 1, ...timing, seed, target: shown?.join(' ') ?? 'local servers' },
    resume: values.resume,
    epochMs: Date.now(),
    documentName: 'compare.json',
  })
  if (!store.resumed && earlier.length > 0)
    say(
      `starting over: the rounds of ${several(earlier.length, 'earlier comparison')} of these sides in ${outDir} do not count`,
    )
  const command = commandOf(values, request, plan, shown)
  const found = () => findingsOf({ request, plan, gate: gating, store })
  const where = shown ? 'the target' : 'local servers'
  const document = () =>
    documentOf(found(), {
      request,
      plan,
      store,
      values,
      about: { command, where, earlier, spentMs: clock() - startMs },
    })
  const serverPool = serverPoolOf({ target, env, serverFile: (path) => path, log: say, clock })
  progress.begin(experiment, store)
  await withUndo(async (undo) => {
    undo(store.close)
    undo(() => serverPool.keepOnly([]))
    const rounds = {
      cells,
      ...timing,
      seed,
      linked: () => cells,
      isEnough: (/** @type {number} */ done) => plan.looks.includes(done) && isDecided(found().comparison),
    }
    await runTurns(
      rounds,
      store,
      { serverPool, env: programsEnv(env) },
      { signal, clock, tell: () => store.tell(document()), onTurn: progress.turn },
    )
  })
  await store.tell(document())
  if (!signal.aborted) await store.finish()
  const { comparison, isValid } = found()
  const answer = document()
  await writeRunPages(
    store.folder,
    (answer.rounds ?? []).flatMap(({ runs }) => runs.map(({ folder }) => folder)),
  )
  const sections = kit.sections(answer)
  await writeFiles(store.folder, {
    ...(await kit.files(answer)),
    ...ciFiles(comparison, gating.gate),
    'summary.md': markdownReport({ ...sections, tables: sections.tables.filter(({ more }) => !more) }),
  })
  const layout = { columns: process.stdout.columns, verbose: values.verbose }
  printData(values.json, answer, () => kit.text(answer, layout))
  const missing = missingFor('svg')
  const picture = missing ? '' : `, picture: ${store.folder}/charts/changes.svg`
  if (missing) say(missing)
  say(`page: ${store.folder}/compare.html${picture}`)
  if (signal.aborted) return ExitCode.interrupted
  return isValid ? gateExitCode(comparison.rulings, gating.gate) : ExitCode.invalid
}

/** @type {Command} */
export const command = {
  about: {
    words: 'A B [...]',
    does: 'Runs A and B in turn (ABBA), on local servers or on a target, and prints for each metric: better, worse, no difference beyond 3 %, or cannot tell. A is the baseline. More sides are ranked.',
    examples: [
      ['two data models at a rate', 'sorted-set list -q 50000'],
      ['several, ranked', 'sorted-set list stream set -q 50000'],
      ['on servers of your own', 'sorted-set stream -q 50000 --cluster --host cache.example.net'],
      ['the same model with other options', "default 'chunks=10 ttl=9' -q 50000"],
      ['how long it would take', 'sorted-set list -q 50000 --until-sure --dry-run'],
    ],
    more: `Each side is one word or more in quotes:
  list                       a data model
  ./feed.yaml                your own, from its file
  strategy=list chunks=4     options of millrace write in which the sides differ
  server-bin=PATH            another server program
  config.appendonly=yes      a line of the local servers' configuration
  millrace=FOLDER            another version of Millrace
  name=LABEL                 what the side is called
  default                    nothing of its own
All other options of millrace write are those of both sides; behind -- also those that have a name of an option above.
Without an address servers are started here; between runs they are emptied, and those of a target are waited for until the items of the last run have expired. The password is REDIS_PASSWORD in the environment, or --password-file.
With more than two sides a round has its runs in random order (the next one in the reverse of it); all are compared with A, and the table names the side that is best. The intervals of a metric hold together for all sides.
Exit code 4: fewer than two rounds of a side are valid.`,
  },
  options: [...compareOptions, ...gateOptions],
  passed,
  isPrivate: true,
  takesWords: true,
  words: () => strategyNames(),
  work: compare,
}
