// `millrace experiment`: every published table again, or one of your own.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { optionsOf, ownOptions } from '../../../settings.js'
import { programsEnv } from '../../base/child.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { exactly } from '../../base/typed.js'
import { withUndo } from '../../base/undo.js'
import { plainText, several } from '../../base/units.js'
import { millraceVersion } from '../../base/version.js'
import { boxesAsked, followBoxes, joinBoxes } from '../../experiments/boxes.js'
import { experimentIds, experimentNamed, fileOf } from '../../experiments/catalogue.js'
import { runCell } from '../../experiments/cell-run.js'
import { serverPoolOf, shownTarget } from '../../experiments/experiment-servers.js'
import { cellsOf } from '../../experiments/matrix.js'
import { typedWords } from '../../experiments/options.js'
import { seriesProgress, spanWords } from '../../experiments/progress.js'
import { published } from '../../experiments/published.js'
import { runMatrix } from '../../experiments/runner.js'
import { openMatrix } from '../../experiments/store.js'
import { refuseWords, unknownAction } from '../../options/command-line.js'
import { missingFor } from '../../report/draw.js'
import { experiment as kit } from '../../report/experiment.js'
import { reportRun } from '../../report/write-report.js'
import { ResultsError } from '../../result/files.js'
import { modules, otherVersions, peerPath, peers } from '../../servers/peers.js'
import { screenSay as say } from '../say.js'
import { interruptsOfSeries } from '../signals.js'

/**
 * @import { Boxes, Part } from '../../experiments/boxes.js'
 * @import { Cell } from '../../experiments/matrix.js'
 * @import { Experiment } from '../../experiments/schema.js'
 * @import { TurnResult } from '../../experiments/summary.js'
 * @import { Typed } from '../../options/command-line.js'
 * @import { Asked, Command } from '../commands.js'
 */

const targetNames = new Set('server-bin shards replicas ask-password password sentinel-password'.split(' '))
/** Where the runs go: options of the producer. */
const targetOptions = optionsOf('producer').filter(
  ({ group, name }) => (group.startsWith('Target') && !targetNames.has(name)) || name === 'allow',
)

// biome-ignore format: a table, an option a row
const experimentOptions = ownOptions('Options', [
  { name: 'all', type: 'flag', help: 'run all of them' },
  { name: 'scale', type: 'number', range: ['0.0001', '1000'], default: '1',
    help: 'quantities times N: with 0.1 a laptop can run what was published from EC2' },
  { name: 'rounds', also: ['repeat'], key: 'repeat', type: 'integer', range: ['1', '1000'], default: '3',
    help: 'rounds, in shuffled, then mirrored order; an interval needs three' },
  { name: 'duration', also: ['seconds'], key: 'seconds', type: 'seconds', unit: 's', range: ['1s', '24h'], default: '20s', help: 'measured, of every run or phase' },
  { name: 'warm-up', type: 'seconds', unit: 's', range: ['0s', '24h'], default: '3s', help: 'time before that' },
  { name: 'seed', type: 'integer', range: ['0', '4294967295'], default: '1', help: 'random seed of the order' },
  { name: 'out', type: 'path', otherwise: 'results/experiments', help: 'folder of the results' },
  { name: 'dry-run', type: 'flag', help: 'print the cells, the rounds and how long they take; run nothing' },
  { name: 'boxes', type: 'integer', range: ['2', '1000'], otherwise: 'this one alone',
    help: 'how many boxes play the experiment: type the same on each, with --control, --run and an address' },
  { name: 'control', type: 'server', secret: true, otherwise: 'MILLRACE_CONTROL, with --boxes',
    help: 'the Redis or Valkey where the boxes meet' },
  { name: 'run', type: 'text', pattern: /^[A-Za-z0-9][\w.-]{0,29}$/, expects: 'letters, digits, dots and dashes, at most 30', otherwise: 'with --boxes',
    help: 'name of it on the control, the same on every box' },
  { name: 'resume', type: 'flag', help: 'continue the newest experiment of the same options: its finished runs are kept' },
])

/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`)

const list = () => {
  const width = Math.max(...experimentIds().map((id) => id.length)) + 2
  for (const id of experimentIds()) print(`${id.padEnd(width)}${experimentNamed(id).question}`)
  return ExitCode.done
}

/** @param {readonly string[]} words */
const show = (words) => {
  if (words.length !== 1) throw new OptionError('show takes one id')
  if (experimentIds().includes(words[0])) process.stdout.write(readFileSync(fileOf(words[0]), 'utf8'))
  else print(JSON.stringify(experimentNamed(words[0]), null, 2))
  return ExitCode.done
}

/** The target as typed, or null: servers of our own. @param {Typed} typed @param {NodeJS.ProcessEnv} env */
const targetOf = (typed, env) => {
  const given = Object.fromEntries(
    targetOptions.flatMap(({ name, type }) => {
      const text = typed.options.get(name)
      return text === undefined ? [] : [[name, type === 'flag' ? text === 'true' : text]]
    }),
  )
  return Object.keys(given).length === 0 ? null : { given, shown: shownTarget(given, env) }
}

/** @param {string} name of a peer */
const serverFile = (name) => {
  const found = [...peers, ...otherVersions, ...modules].find((each) => each.name === name)
  const file = found && peerPath(found, process.env)
  return file && existsSync(file) ? file : undefined
}

/** @param {Experiment} experiment @param {Cell[]} cells */
const checkServers = ({ id }, cells) => {
  for (const { name, place } of cells)
    for (const [key, list] of exactly([
      ['server', [...peers, ...otherVersions]],
      ['module', modules],
    ])) {
      const known = list.map((each) => each.name)
      const asked = place[key]?.split(',').find((one) => !known.includes(one))
      if (asked !== undefined)
        throw new OptionError(
          `${id}, "${plainText(name)}": ${key} must be one of ${known.join(', ')}, not '${plainText(asked).slice(0, 40)}'`,
        )
    }
}

/** @param {readonly TurnResult[]} turns */
const hasValidRun = (turns) => turns.some(({ legs }) => legs.some(({ valid }) => valid))

/**
 * @typedef {{ experiment: Experiment, cells: Cell[] }} Planned
 * @typedef {ReturnType<typeof seriesOf>} Series experiments, one after the other, and what they are run with
 */

/** @param {Asked} asked @param {readonly string[]} words */
const seriesOf = ({ settings: values, typed, env }, words) => {
  if (values.all && words.length > 0) throw new OptionError('run takes ids or --all, not both')
  if (!values.all && words.length === 0)
    throw new OptionError('run needs an id, a path, or --all (list names them)')
  const experiments = (values.all ? experimentIds() : [...new Set(words)]).map(experimentNamed)
  const target = targetOf(typed, env)
  const fixed = {
    scale: values.scale,
    seconds: values.seconds,
    warmUpS: values['warm-up'],
    repeat: values.repeat,
    seed: values.seed,
    target: target?.shown.join(' ') ?? 'embedded',
  }
  const textOf = (/** @type {string} */ name) => typed.options.get(name)
  const fleet = boxesAsked(
    values,
    { url: textOf('control') ?? env.MILLRACE_CONTROL, caFile: textOf('ca') },
    target !== null && experiments.length === 1,
  )
  const signal = interruptsOfSeries()
  const clock = () => performance.now()
  const serverPool = serverPoolOf({ target: target?.given ?? null, env, serverFile, log: say, clock })
  /** @type {Planned[]} */
  const plan = experiments.map((experiment) => ({ experiment, cells: cellsOf(experiment, fixed) }))
  for (const { experiment, cells } of plan) checkServers(experiment, cells)
  const progress = seriesProgress({ plan, fixed, onTarget: target !== null, startMs: clock(), say })
  const { out: outDir = 'results/experiments', resume } = values
  return {
    plan,
    words,
    fixed,
    target: target?.shown ?? [],
    fleet,
    serverPool,
    progress,
    outDir,
    resume,
    env: programsEnv(env),
    signal,
    clock,
  }
}

/** What would be run, and how long that takes. @param {Series} series */
const outline = ({ plan, fixed, progress }) => {
  for (const { experiment, cells } of plan)
    print(`${experiment.id}: ${several(cells.length, 'cell')}, ${several(fixed.repeat, 'round')}`)
  print(`about ${spanWords(progress.leftMs())} in all`)
  return ExitCode.done
}

/** A box that has no results. @param {Series} series @param {Boxes} boxes */
const follow = async ({ plan: [{ cells }], fixed, serverPool, env, signal }, boxes) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-box-'))
  const timing = { seconds: fixed.seconds, warmUpS: fixed.warmUpS }
  const play = async (/** @type {(typeof cells)[number]} */ cell, /** @type {Part} */ part) => {
    const { servers } = await serverPool.take(cell.place, 0)
    await runCell({ cell, folder, timing, factor: 1, servers, env, signal, part })
  }
  await followBoxes(boxes, cells, play, say).finally(() => rm(folder, { recursive: true, force: true }))
}

/** The line that runs one of them again. @param {Series} series @param {Experiment} experiment */
const commandOf = ({ words, fixed, target }, { id }) =>
  typedWords([
    ...['millrace', 'experiment', 'run'],
    words.find((word) => word.endsWith('.json') && experimentNamed(word).id === id) ?? id,
    ...['--scale', String(fixed.scale), '--duration', `${fixed.seconds}s`],
    ...['--warm-up', `${fixed.warmUpS}s`, '--rounds', String(fixed.repeat), '--seed', String(fixed.seed)],
    ...target,
  ])

/**
 * @param {Series} series
 * @param {Planned} planned
 * @param {Boxes | null} boxes
 * @param {(step: () => unknown) => void} undo
 * @returns {Promise<boolean>} whether it has a valid run
 */
const runOne = async (series, { experiment, cells }, boxes, undo) => {
  const { fixed, serverPool, progress, outDir, resume, env, signal, clock } = series
  const store = await openMatrix({ outDir, fixed: { experiment, ...fixed }, resume, epochMs: Date.now() })
  undo(store.close)
  progress.begin(experiment, store)
  const command = commandOf(series, experiment)
  await serverPool.keepOnly(cells.map(({ place }) => place))
  const document = await runMatrix({
    matrix: {
      experiment,
      cells,
      ...fixed,
      published: published().experiments[experiment.published ?? ''] ?? null,
    },
    store,
    bench: { serverPool, env, boxes },
    watch: { signal, clock, onTurn: progress.turn },
    about: { command, millrace: millraceVersion() },
  }).catch((error) => {
    if (store.turns.length > 0) say(`results so far in ${store.folder}; --resume goes on`)
    throw error
  })
  process.stdout.write(kit.text(document, { columns: process.stdout.columns }))
  await reportRun(store.folder).catch((error) => {
    if (error instanceof ResultsError) throw error
    say(`there is no report.html: ${error.message}`)
  })
  const missing = missingFor('svg')
  if (missing) say(missing)
  say(`results in ${store.folder}`)
  return hasValidRun(store.turns)
}

/** @param {Asked} asked @param {readonly string[]} words */
const run = async (asked, words) => {
  const series = seriesOf(asked, words)
  const { plan, fixed, fleet, serverPool, signal } = series
  if (asked.settings['dry-run']) return outline(series)
  let isMeasured = true
  await withUndo(async (undo) => {
    undo(() => serverPool.keepOnly([]))
    const experiments = plan.map(({ experiment }) => experiment)
    const boxes =
      fleet && (await joinBoxes(fleet, { ...fixed, experiments, boxes: fleet.boxes }, { say, signal }))
    if (boxes) undo(boxes.close)
    if (boxes && boxes.number > 1) return follow(series, boxes)
    if (boxes) undo(boxes.end)
    for (const one of plan) {
      if (signal.aborted) break
      const isOneMeasured = await withUndo((undoOne) => runOne(series, one, boxes, undoOne))
      isMeasured &&= isOneMeasured
    }
  })
  if (signal.aborted) return ExitCode.interrupted
  return isMeasured ? ExitCode.done : ExitCode.invalid
}

const actions = ['list', 'show', 'run']

/** @type {Command} */
export const command = {
  about: {
    words: 'list | show ID | run ID...',
    does: 'Runs the published experiments again, or one of your own.',
    examples: [
      ['what there is, and what each of them asks', 'list'],
      ['one of them, at a tenth of its rate', 'run list --scale 0.1'],
      ['the definition: save it, change it, and run the file', 'show list > mine.json'],
      ['one of your own', 'run ./mine.json --duration 5s'],
      ['on four boxes, each with this line', 'run list --host target --boxes 4 --run spring'],
    ],
    more: `Without an address every experiment runs on servers started here. An address is taken from the command line alone, never from the environment: --url or --host, --port, --cluster, --username, --tls, --ca and so on, as millrace write has them; the password as REDIS_PASSWORD in the environment, or by --password-file.
Ctrl-C ends an experiment with the runs it has; --resume continues it. Exit code 4: an experiment has no valid run.`,
  },
  options: experimentOptions,
  passed: targetOptions,
  isPrivate: true,
  takesWords: true,
  words: () => [...actions, ...experimentIds()],
  work: async (asked) => {
    const [word, ...words] = asked.typed.words
    if (word === 'list') {
      refuseWords(asked.typed, 1)
      return list()
    }
    if (word === 'show') return show(words)
    if (word === 'run') return run(asked, words)
    throw unknownAction(word, actions)
  },
}
