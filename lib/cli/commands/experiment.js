// `millrace experiment`: every published table again, or one of your own.
import { existsSync, readFileSync } from 'node:fs'
import { optionsOf } from '../../../settings.js'
import { plainText, several } from '../../base/units.js'
import { ExitCode, OptionError } from '../../errors.js'
import { experimentNamed, fileOf, ids } from '../../experiments/catalogue.js'
import { spanWords } from '../../experiments/duration.js'
import { figureNames } from '../../experiments/figures.js'
import { cellsOf } from '../../experiments/matrix.js'
import { typed as typedWords } from '../../experiments/options.js'
import { placesOf, shownTarget } from '../../experiments/places.js'
import { progressOf } from '../../experiments/progress.js'
import { published } from '../../experiments/published.js'
import { runMatrix } from '../../experiments/runner.js'
import { openMatrix } from '../../experiments/store.js'
import { experimentText } from '../../experiments/text.js'
import { missingFor } from '../../report/draw.js'
import { reportRun } from '../../report/write-report.js'
import { ResultsError } from '../../result/files.js'
import { millraceVersion } from '../../run/versions.js'
import { modules, peerPath, peers } from '../../target/peers.js'
import { withUndo } from '../../undo.js'
import { programsEnv } from '../child.js'
import { ownOptions } from '../commands.js'
import { terminalText } from '../log.js'
import { interruptsOfSeries } from '../signals.js'

/** @typedef {import('../../experiments/schema.js').Experiment} Experiment */

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

/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`)

const list = () => {
  const width = Math.max(...ids().map((id) => id.length)) + 2
  for (const id of ids()) print(`${id.padEnd(width)}${experimentNamed(id).question}`)
  return ExitCode.done
}

/** @param {readonly string[]} words */
const show = (words) => {
  if (words.length !== 1) throw new OptionError('show takes one id, or figures')
  if (words[0] === 'figures') print(figureNames.join('\n'))
  else if (ids().includes(words[0])) process.stdout.write(readFileSync(fileOf(words[0]), 'utf8'))
  else print(JSON.stringify(experimentNamed(words[0]), null, 2))
  return ExitCode.done
}

/**
 * The target as typed, or null: servers of our own.
 * @param {import('../command-line.js').Typed} typed
 * @param {NodeJS.ProcessEnv} env
 */
const targetOf = (typed, env) => {
  const given = Object.fromEntries(
    targetOptions.flatMap(({ name, type }) => {
      const text = typed.options.get(name)?.text
      return text === undefined ? [] : [[name, type === 'flag' ? text === 'true' : text]]
    }),
  )
  return Object.keys(given).length === 0 ? null : { given, shown: shownTarget(given, env) }
}

/** @param {string} name of a peer */
const serverFile = (name) => {
  const found = [...peers, ...modules].find((each) => each.name === name)
  const file = found && peerPath(found, process.env)
  return file && existsSync(file) ? file : undefined
}

/** @param {Experiment} experiment @param {import('../../experiments/matrix.js').Cell[]} cells */
const checkServers = ({ id }, cells) => {
  for (const { name, place } of cells)
    for (const [key, list] of /** @type {const} */ ([
      ['server', peers],
      ['module', modules],
    ])) {
      const known = list.map((each) => each.name)
      const asked = place[key] ?? null
      if (asked !== null && !known.includes(asked))
        throw new OptionError(
          `${id}, "${plainText(name)}": ${key} must be one of ${known.join(', ')}, not '${plainText(asked).slice(0, 40)}'`,
        )
    }
}

/** @param {readonly import('../../experiments/summary.js').TurnResult[]} turns */
const hasValidRun = (turns) => turns.some(({ legs }) => legs.some(({ valid }) => valid))

/** @param {import('../commands.js').Asked} asked @param {readonly string[]} words */
const run = async ({ settings: values, typed, env }, words) => {
  if (values.all && words.length > 0) throw new OptionError('run takes ids or --all, not both')
  if (!values.all && words.length === 0)
    throw new OptionError('run needs an id, a path, or --all (list names them)')
  const experiments = (values.all ? ids() : [...new Set(words)]).map(experimentNamed)
  const target = targetOf(typed, env)
  const terms = {
    scale: values.scale,
    seconds: values.seconds,
    warmUpS: values['warm-up'],
    repeat: values.repeat,
    seed: values.seed,
    target: target?.shown.join(' ') ?? 'embedded',
  }
  const outDir = values.out ?? 'results/experiments'
  const signal = interruptsOfSeries()
  const clock = () => performance.now()
  const say = (/** @type {string} */ line) => process.stderr.write(`${terminalText(line, process.stderr)}\n`)
  const places = placesOf({ target: target?.given ?? null, env, serverFile, log: say, clock })
  const plan = experiments.map((experiment) => ({ experiment, cells: cellsOf(experiment, terms) }))
  for (const { experiment, cells } of plan) checkServers(experiment, cells)
  const progress = progressOf({ plan, terms, onTarget: target !== null, startMs: clock(), say })
  if (values['dry-run']) {
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
      resume: values.resume,
      epochMs: Date.now(),
    })
    undo(store.close)
    progress.begin(experiment, store)
    const command = typedWords([
      ...[
        'millrace',
        'experiment',
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

/** @type {import('../commands.js').Command} */
export const command = {
  about: {
    words: 'list | show ID | run ID...',
    does: 'Runs the published experiments again, or one of your own.',
    examples: [
      ['what there is, and what each of them asks', 'list'],
      ['one of them, at a tenth of its rate', 'run list --scale 0.1'],
      ['the definition: save it, change it, and run the file', 'show list > mine.json'],
      ['one of your own', 'run ./mine.json --seconds 5'],
      ['names of what a column or a ratio can have', 'show figures'],
    ],
    more: `Without an address every experiment runs on servers started here. An address is taken from the command line alone, never from the environment: --url or --host, --port, --cluster, --username, --tls, --ca and so on, as millrace write has them; the password as REDIS_PASSWORD in the environment, or by --password-file.
Ctrl-C ends an experiment with the runs it has; --resume continues it. Exit code 4: an experiment has no valid run.`,
  },
  options: ownOptions('Options', [
    { name: 'all', type: 'flag', help: 'run all of them' },
    {
      name: 'scale',
      type: 'number',
      range: ['0.0001', '1000'],
      default: '1',
      help: 'quantities times N: with 0.1 a laptop can run what was published from EC2',
    },
    {
      name: 'repeat',
      type: 'integer',
      range: ['1', '1000'],
      default: '3',
      help: 'rounds, in shuffled, then mirrored order; an interval needs three',
    },
    {
      name: 'seconds',
      type: 'number',
      range: ['1', '86400'],
      default: '20',
      help: 'measured, of every run or phase',
    },
    { name: 'warm-up', type: 'number', range: ['0', '86400'], default: '3', help: 'seconds before that' },
    {
      name: 'seed',
      type: 'integer',
      range: ['0', '4294967295'],
      default: '1',
      help: 'random seed of the order',
    },
    { name: 'out', type: 'path', otherwise: 'results/experiments', help: 'folder of the results' },
    {
      name: 'dry-run',
      type: 'flag',
      help: 'print the cells, the rounds and how long they take; run nothing',
    },
    {
      name: 'resume',
      type: 'flag',
      help: 'continue the newest experiment of the same options: its finished runs are kept',
    },
  ]),
  passed: targetOptions,
  isPrivate: true,
  takesWords: true,
  words: () => ['list', 'show', 'run', ...ids()],
  work: async (asked) => {
    const [word, ...words] = asked.typed.words
    if (word === 'list') {
      if (words.length > 0)
        throw new OptionError(`list takes no more words, not '${plainText(words[0]).slice(0, 40)}'`)
      return list()
    }
    if (word === 'show') return show(words)
    if (word === 'run') return run(asked, words)
    throw new OptionError(
      word === undefined
        ? 'a command is missing: list, show, run (see --help)'
        : `'${plainText(word).slice(0, 40)}' is no command: list, show, run (see --help)`,
    )
  },
}
