// `millrace compare A B`: runs two sides in turn, and says what differs and how sure that is.
import { readdir } from 'node:fs/promises'
import { plainText, several } from '../base/units.js'
import { comparisonOfRounds } from '../compare/comparison.js'
import { comparisonData } from '../compare/data.js'
import { comparisonFiles } from '../compare/files.js'
import { exitCodeOf } from '../compare/gates.js'
import { fixedRounds, isDecided, untilSure } from '../compare/plan.js'
import {
  cellOf,
  commonRequest,
  idOf,
  placeOf,
  requestedDifferences,
  sideRequest,
} from '../compare/request.js'
import { roundsOf } from '../compare/rounds.js'
import { comparisonText } from '../compare/text.js'
import { ExitCode, OptionError } from '../errors.js'
import { spanWords } from '../experiments/duration.js'
import { typed } from '../experiments/options.js'
import { placesOf, shownTarget } from '../experiments/places.js'
import { progressOf } from '../experiments/progress.js'
import { runTurns } from '../experiments/runner.js'
import { openMatrix } from '../experiments/store.js'
import { hardware } from '../experiments/summary.js'
import { missingFor } from '../report/draw.js'
import { writeFiles, writeRunPages } from '../report/write-report.js'
import { millraceVersion } from '../run/versions.js'
import { withUndo } from '../undo.js'
import { gateOptions, gateUsage, readGate } from './gate-options.js'
import { interrupts, programsEnv } from './runner.js'
import { script } from './script.js'

const usage = `Usage: millrace compare [options] A B [-- OPTIONS OF BOTH]

Runs A and B in turn (ABBA), on local servers or on a target, and says for each metric: better, worse, no difference
beyond 3 %, or cannot tell. A is the baseline. Each side is one word or more in quotes:

  strategy=list chunks=4     options of the producer in which the sides differ, by their long names
  server-bin=PATH            another server program
  config.appendonly=yes      a line of the local servers' configuration
  millrace=FOLDER            another version of Millrace
  name=LABEL                 what the side is called
  default                    nothing of its own

Options behind -- are those of the producer: millrace compare default strategy=list -- -q 20000 -t 2 --cluster
Without an address there, servers are started here; between runs they are emptied, and those of a target are waited for
until the items of the last run have expired. The password is REDIS_PASSWORD in the environment, or --password-file.

  --rounds N         pairs of runs (6)
  --until-sure       looks after 6 rounds and after every second one further, and stops when it can tell. It still
                     errs in 5 % of comparisons at most: a group-sequential t-test with alpha spending
  --max-rounds N     of --until-sure (20)
  --seconds N        measured, of every run (10)
  --warm-up N        seconds before that (3)
  --seed N           of the order (1)
  --dry-run          says how many runs and how long, and runs nothing
  --out FOLDER       of the results (results/compare)
  --resume           continues the newest comparison of the same terms; without it earlier rounds do not count
${gateUsage}
  --all              metrics without a verdict too
  --json             print compare.json
  -h, --help         this text

Exit code 4: fewer than two rounds are valid.`

const text = /** @type {const} */ ({ type: 'string' })
const flag = /** @type {const} */ ({ type: 'boolean' })

const numbers = /** @type {const} */ ({
  rounds: { from: 2, to: 1000, otherwise: 6, whole: true },
  'max-rounds': { from: 6, to: 200, otherwise: 20, whole: true },
  seconds: { from: 1, to: 86_400, otherwise: 10, whole: false },
  'warm-up': { from: 0, to: 86_400, otherwise: 3, whole: false },
  seed: { from: 0, to: 4_294_967_295, otherwise: 1, whole: true },
})

/** @param {Record<string, any>} values @param {keyof typeof numbers} name */
const numberOf = (values, name) => {
  const { from, to, otherwise, whole } = numbers[name]
  if (values[name] === undefined) return otherwise
  const value = /^\d+(\.\d+)?$/.test(values[name]) ? Number(values[name]) : Number.NaN
  if (!(value >= from && value <= to) || (whole && !Number.isInteger(value)))
    throw new OptionError(`--${name} must be a ${whole ? 'whole ' : ''}number from ${from} to ${to}`)
  return value
}

const leastRounds = 6

/** @param {Record<string, any>} values */
const planOf = (values) => {
  if (values['until-sure'] !== true) {
    if (values['max-rounds'] !== undefined) throw new OptionError('--max-rounds belongs to --until-sure')
    return fixedRounds(numberOf(values, 'rounds'))
  }
  if (values.rounds !== undefined)
    throw new OptionError('--rounds and --until-sure: give one of them (--max-rounds bounds the second)')
  return untilSure(leastRounds, numberOf(values, 'max-rounds'))
}

/** @param {string[]} words @param {number | null} separator */
const requestOf = (words, separator) => {
  const given = separator === null ? words : words.slice(0, separator)
  if (given.length !== 2)
    throw new OptionError(
      `compare takes two sides, not ${given.length}: millrace compare default strategy=list -- -q 20000 (--help explains more)`,
    )
  const common = commonRequest(separator === null ? [] : words.slice(separator))
  const [a, b] = [sideRequest(given[0], 'A'), sideRequest(given[1], 'B')]
  if (a.name === b.name)
    for (const [side, letter] of /** @type {const} */ ([
      [a, 'A'],
      [b, 'B'],
    ]))
      side.name += ` (${letter})`
  return { a, b, common, given, cells: [cellOf(a, 'a', common), cellOf(b, 'b', common)] }
}

/** @param {string} outDir @param {string} id */
const earlierOf = async (outDir, id) => {
  const names = await readdir(outDir).catch(() => /** @type {string[]} */ ([]))
  return names.filter((name) => name.endsWith(`-${id}`) || name.includes(`-${id}-`)).sort()
}

/** @param {Record<string, any>} values @param {string[]} words @param {{ separator: number | null, env: NodeJS.ProcessEnv }} given */
const compare = async (values, words, { separator, env }) => {
  const { thresholds, gate, effect } = readGate(values)
  const seconds = numberOf(values, 'seconds')
  const warmUpS = numberOf(values, 'warm-up')
  const seed = numberOf(values, 'seed')
  const plan = planOf(values)
  const { a, b, common, given, cells } = requestOf(words, separator)
  const { target } = placeOf(common.where)
  const shown = target ? shownTarget(target, env) : null
  const id = idOf(a, b)
  const outDir = values.out ?? 'results/compare'
  const question = `${b.name} against ${a.name}.`
  const timing = { seconds, warmUpS, repeat: plan.rounds }
  const say = (/** @type {string} */ line) => process.stderr.write(`${plainText(line)}\n`)
  const progress = progressOf({
    plan: [{ experiment: { id }, cells }],
    terms: timing,
    onTarget: target !== null,
    say,
  })
  if (values['dry-run'] === true) {
    const sure =
      plan.looks.length > 1 ? `, fewer if it can tell earlier (it looks after ${plan.looks.join(', ')})` : ''
    process.stdout.write(
      `${plainText(question)} 2 cells, ${several(plan.rounds, 'round')}: about ${spanWords(progress.leftMs())}${sure}\n`,
    )
    return ExitCode.done
  }
  const earlier = await earlierOf(outDir, id)
  const signal = interrupts()
  const clock = () => performance.now()
  const startMs = clock()
  const experiment = { id, question, cells: given.map((name) => ({ name })), options: common.load }
  const store = await openMatrix({
    outDir,
    terms: { experiment, scale: 1, ...timing, seed, target: shown?.join(' ') ?? 'local servers' },
    resume: values.resume === true,
    epochMs: Date.now(),
    documentName: 'compare.json',
  })
  if (!store.resumed && earlier.length > 0)
    say(
      `starting over: the rounds of ${several(earlier.length, 'earlier comparison')} of these sides in ${outDir} do not count`,
    )
  const command = typed([
    ...['millrace', 'compare', ...given, '--seconds', String(seconds), '--warm-up', String(warmUpS)],
    ...(plan.looks.length > 1
      ? ['--until-sure', '--max-rounds', String(plan.rounds)]
      : ['--rounds', String(plan.rounds)]),
    ...(separator === null ? [] : ['--', ...words.slice(separator)]),
  ])
  const found = () => {
    const { rounds, ...rest } = roundsOf(store.turns)
    const comparison = comparisonOfRounds({
      baseline: a.name,
      other: b.name,
      rounds,
      settings: requestedDifferences(a, b),
      thresholds,
      effect,
      criticals: plan.criticals(rounds.length),
    })
    return {
      rounds,
      ...rest,
      comparison: { ...comparison, warnings: [...rest.warnings, ...comparison.warnings] },
    }
  }
  const document = () => {
    const { comparison, rounds, isValid, factor } = found()
    return {
      ...comparisonData(comparison),
      valid: isValid,
      started: store.started,
      duration_s: store.spentS + Math.round(clock() - startMs) / 1000,
      command,
      versions: {
        millrace: millraceVersion(),
        node: process.versions.node,
        servers: [...new Set(store.turns.flatMap(({ servers = [] }) => servers))],
      },
      hardware: hardware(),
      rate_factor: factor,
      rounds: rounds.map(({ round, first }) => ({ round, first })),
      stopping: plan.looks.length > 1 ? { rule: 'alpha spending, Pocock shape', looks: plan.looks } : null,
      earlier,
    }
  }
  const places = placesOf({ target, env, serverFile: (path) => path, log: say, clock })
  progress.begin(experiment, store)
  await withUndo(async (undo) => {
    undo(store.close)
    undo(() => places.keepOnly([]))
    await runTurns({
      cells,
      ...timing,
      seed,
      store,
      places,
      env: programsEnv(env),
      signal,
      clock,
      linked: () => cells,
      isEnough: (rounds) => plan.looks.includes(rounds) && isDecided(found().comparison),
      tell: () => store.tell(document()),
      onTurn: progress.turn,
    })
  })
  await store.tell(document())
  if (!signal.aborted) await store.finish()
  const { comparison, rounds, isValid } = found()
  const runs = rounds.map(({ round }) => ({
    a: `cells/a/round-${round}/run`,
    b: `cells/b/round-${round}/run`,
  }))
  await writeRunPages(
    store.folder,
    runs.flatMap(({ a: first, b: second }) => [first, second]),
  )
  const facts = {
    command,
    method: `${several(rounds.length, 'round')} in ABBA order, ${seconds} s measured after ${warmUpS} s${plan.looks.length > 1 ? `, until sure (looks after ${plan.looks.join(', ')} rounds; together they err in 5 % at most)` : ''}`,
    where: `${[...new Set(store.turns.flatMap(({ servers = [] }) => servers))].join(', ')} on ${shown ? 'the target' : 'local servers'}; ${hardware()}`,
    firsts: rounds.map(({ first }) => first),
    runs,
    isValid,
  }
  await writeFiles(store.folder, await comparisonFiles(comparison, facts, gate))
  process.stdout.write(
    values.json
      ? `${JSON.stringify(document(), null, 2)}\n`
      : comparisonText(comparison, { columns: process.stdout.columns ?? 110, all: values.all === true }),
  )
  const missing = missingFor('svg')
  if (missing) say(missing)
  say(`results in ${store.folder}`)
  if (signal.aborted) return ExitCode.interrupted
  return isValid ? exitCodeOf(comparison.rulings, gate) : ExitCode.invalid
}

await script({
  usage,
  options: {
    ...gateOptions,
    ...Object.fromEntries([...Object.keys(numbers), 'out'].map((name) => [name, text])),
    'until-sure': flag,
    'dry-run': flag,
    resume: flag,
    all: flag,
    json: flag,
  },
  work: compare,
})
