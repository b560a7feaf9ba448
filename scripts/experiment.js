#!/usr/bin/env node
// Every published table again, or one of your own: node scripts/experiment.js list | show ID | run ID... | run --all
import { existsSync, readFileSync } from 'node:fs'
import { plainText, several } from '../lib/base/units.js'
import { interrupts, programsEnv } from '../lib/cli/runner.js'
import { script } from '../lib/cli/script.js'
import { ExitCode, OptionError } from '../lib/errors.js'
import { experimentNamed, fileOf, ids } from '../lib/experiments/catalogue.js'
import { spanWords } from '../lib/experiments/duration.js'
import { figureNames } from '../lib/experiments/figures.js'
import { cellsOf } from '../lib/experiments/matrix.js'
import { typed } from '../lib/experiments/options.js'
import { placesOf, shownTarget } from '../lib/experiments/places.js'
import { progressOf } from '../lib/experiments/progress.js'
import { published } from '../lib/experiments/published.js'
import { runMatrix } from '../lib/experiments/runner.js'
import { openMatrix } from '../lib/experiments/store.js'
import { experimentText } from '../lib/experiments/text.js'
import { missingFor } from '../lib/report/draw.js'
import { reportRun } from '../lib/report/write-report.js'
import { ResultsError } from '../lib/result/files.js'
import { millraceVersion } from '../lib/run/versions.js'
import { withUndo } from '../lib/undo.js'
import { optionsOf } from '../settings.js'
import { peerPath, peers } from './setup-peers.js'

/** @typedef {import('../lib/experiments/schema.js').Experiment} Experiment */

const usage = `Usage: node scripts/experiment.js COMMAND [options]

  list             the experiments by id, and what each of them asks
  show ID          its definition: save it, change it, and run the file
  show figures     names of what can stand in a column or a ratio
  run ID...        runs them; a path (./mine.json) runs one of your own
  run --all        all of them

  --scale N        quantities times N: 0.1 lets a laptop run what needed EC2 (1)
  --repeat N       rounds, in shuffled, then mirrored order; at least 3 (3)
  --seconds N      measured, of every run or phase (20)
  --warm-up N      seconds before that (3)
  --seed N         of the order (1)
  --out FOLDER     of the results (results/experiments)
  --dry-run        says how many cells and rounds, and how long, and runs nothing
  --resume         takes up the newest matrix of the same terms: what it has is not run again
  -h, --help       this text

Without an address every experiment runs on servers started here. An address is taken from the command line alone,
never from the environment: --url or --host, --port, --cluster, --username, --tls, --ca and so on, as the producer has
them; the password as REDIS_PASSWORD in the environment, or by --password-file.
Ctrl-C ends a matrix with what it has; --resume goes on. Exit code 4: an experiment has no valid run.`

const targetNames = new Set([
  'server-bin',
  'shards',
  'replicas',
  'ask-password',
  'password',
  'sentinel-password',
])
const targetOptions = optionsOf('producer').filter(
  ({ group, name }) => (group.startsWith('Target') && !targetNames.has(name)) || name === 'allow',
)

const numbers = /** @type {const} */ ({
  scale: { from: 0.0001, to: 1000, otherwise: 1, whole: false },
  repeat: { from: 3, to: 1000, otherwise: 3, whole: true },
  seconds: { from: 1, to: 86_400, otherwise: 20, whole: false },
  'warm-up': { from: 0, to: 86_400, otherwise: 3, whole: false },
  seed: { from: 0, to: 4_294_967_295, otherwise: 1, whole: true },
})

/** @param {Record<string, any>} values @param {keyof typeof numbers} name */
const numberOf = (values, name) => {
  const { from, to, otherwise, whole } = numbers[name]
  const text = values[name]
  if (text === undefined) return otherwise
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= from && value <= to) || (whole && !Number.isInteger(value)))
    throw new OptionError(
      `--${name} must be a ${whole ? 'whole ' : ''}number from ${from} to ${to}, not '${plainText(text).slice(0, 40)}'`,
    )
  return value
}

/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`)

const list = () => {
  const width = Math.max(...ids().map((id) => id.length)) + 2
  for (const id of ids()) print(`${id.padEnd(width)}${experimentNamed(id).question}`)
  return ExitCode.done
}

/** @param {string[]} words */
const show = (words) => {
  if (words.length !== 1) throw new OptionError('show takes one id, or figures')
  if (words[0] === 'figures') print(figureNames.join('\n'))
  else if (ids().includes(words[0])) process.stdout.write(readFileSync(fileOf(words[0]), 'utf8'))
  else print(JSON.stringify(experimentNamed(words[0]), null, 2))
  return ExitCode.done
}

/** The target as typed, or null: servers of our own. @param {Record<string, any>} values @param {NodeJS.ProcessEnv} env */
const targetOf = (values, env) => {
  const given = Object.fromEntries(
    targetOptions.flatMap(({ name }) => (values[name] === undefined ? [] : [[name, values[name]]])),
  )
  return Object.keys(given).length === 0 ? null : { given, shown: shownTarget(given, env) }
}

/** @param {string} name of a peer */
const serverFile = (name) => {
  const found = peers.find((each) => each.name === name)
  const file = found && peerPath(found, process.env)
  return file && existsSync(file) ? file : undefined
}

/** @param {Experiment} experiment @param {import('../lib/experiments/matrix.js').Cell[]} cells */
const checkServers = ({ id }, cells) => {
  const known = peers.map(({ name }) => name)
  for (const { name, place } of cells)
    if (place.server !== null && !known.includes(place.server))
      throw new OptionError(
        `${id}, "${plainText(name)}": server must be one of ${known.join(', ')}, not '${plainText(place.server).slice(0, 40)}'`,
      )
}

/** @param {readonly import('../lib/experiments/summary.js').TurnResult[]} turns */
const hasValidRun = (turns) => turns.some(({ legs }) => legs.some(({ valid }) => valid))

/** @param {Record<string, any>} values @param {string[]} words @param {NodeJS.ProcessEnv} env */
const run = async (values, words, env) => {
  if (values.all && words.length > 0) throw new OptionError('run takes ids or --all, not both')
  if (!values.all && words.length === 0)
    throw new OptionError('run needs an id, a path, or --all (list names them)')
  const experiments = (values.all ? ids() : [...new Set(words)]).map(experimentNamed)
  const target = targetOf(values, env)
  const terms = {
    scale: numberOf(values, 'scale'),
    seconds: numberOf(values, 'seconds'),
    warmUpS: numberOf(values, 'warm-up'),
    repeat: numberOf(values, 'repeat'),
    seed: numberOf(values, 'seed'),
    target: target?.shown.join(' ') ?? 'embedded',
  }
  const outDir = values.out ?? 'results/experiments'
  const signal = interrupts()
  const clock = () => performance.now()
  const say = (/** @type {string} */ line) => process.stderr.write(`${plainText(line)}\n`)
  const places = placesOf({ target: target?.given ?? null, env, serverFile, log: say, clock })
  const plan = experiments.map((experiment) => ({ experiment, cells: cellsOf(experiment, terms) }))
  for (const { experiment, cells } of plan) checkServers(experiment, cells)
  const progress = progressOf({ plan, terms, onTarget: target !== null, say })
  if (values['dry-run'] === true) {
    for (const { experiment, cells } of plan)
      print(`${experiment.id}: ${several(cells.length, 'cell')}, ${several(terms.repeat, 'round')}`)
    print(`about ${spanWords(progress.leftMs())} in all`)
    return ExitCode.done
  }
  let isMeasured = true
  /** @param {(typeof plan)[number]} experiment @param {(step: () => unknown) => void} undo @returns {Promise<boolean>} whether it has a valid run */
  const runOne = async ({ experiment, cells }, undo) => {
    const store = await openMatrix({
      outDir,
      terms: { experiment, ...terms },
      resume: values.resume === true,
      epochMs: Date.now(),
    })
    undo(store.close)
    progress.begin(experiment, store)
    const command = typed([
      ...[
        'node',
        'scripts/experiment.js',
        'run',
        words.find((word) => word.endsWith('.json') && experimentNamed(word).id === experiment.id) ??
          experiment.id,
      ],
      ...['--scale', String(terms.scale), '--seconds', String(terms.seconds)],
      ...['--warm-up', String(terms.warmUpS), '--repeat', String(terms.repeat), '--seed', String(terms.seed)],
      ...(target?.shown ?? []),
    ])
    await places.keepOnly(cells.map(({ place }) => place))
    const document = await runMatrix({
      matrix: {
        experiment,
        cells,
        ...terms,
        published: published().experiments[experiment.published ?? ''] ?? null,
      },
      store,
      places,
      env: programsEnv(env),
      signal,
      command,
      millrace: millraceVersion(),
      clock,
      onTurn: progress.turn,
    }).catch((error) => {
      if (store.turns.length > 0) say(`results so far in ${store.folder}; --resume goes on`)
      throw error
    })
    print(experimentText(document, { columns: process.stdout.columns ?? 120 }))
    await reportRun(store.folder).catch((error) => {
      if (error instanceof ResultsError) throw error
      say(`there is no report.html: ${error.message}`)
    })
    const missing = missingFor('svg')
    if (missing) say(missing)
    say(`results in ${store.folder}`)
    return hasValidRun(store.turns)
  }
  await withUndo(async (undo) => {
    undo(() => places.keepOnly([]))
    for (const one of plan) {
      if (signal.aborted) break
      const isOneMeasured = await withUndo((undoOne) => runOne(one, undoOne))
      isMeasured &&= isOneMeasured
    }
  })
  if (signal.aborted) return ExitCode.interrupted
  return isMeasured ? ExitCode.done : ExitCode.invalid
}

await script({
  usage,
  options: {
    ...Object.fromEntries(
      targetOptions.map(({ name, type }) => [
        name,
        { type: type === 'flag' ? /** @type {const} */ ('boolean') : /** @type {const} */ ('string') },
      ]),
    ),
    ...Object.fromEntries(
      [...Object.keys(numbers), 'out'].map((name) => [name, { type: /** @type {const} */ ('string') }]),
    ),
    all: { type: 'boolean' },
    resume: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
  },
  work: async (values, [command, ...words], { env }) => {
    if (command === 'list') {
      if (words.length > 0)
        throw new OptionError(`list takes no more words, not '${plainText(words[0]).slice(0, 40)}'`)
      return list()
    }
    if (command === 'show') return show(words)
    if (command === 'run') return run(values, words, env)
    throw new OptionError(
      command === undefined
        ? 'a command is missing: list, show, run (--help tells more)'
        : `'${plainText(command).slice(0, 40)}' is no command: list, show, run (--help tells more)`,
    )
  },
})
