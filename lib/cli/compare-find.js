// `millrace compare A B --find`: the highest rates of two sides, each searched in a program of its own, in alternating rounds.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownOptions } from '../../settings.js'
import { programsEnv, startChild } from '../base/child.js'
import { ExitCode, OptionError } from '../base/errors.js'
import { plainData, plainText, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { ratioAnswer } from '../compare/find-ratio.js'
import { idOf, placeOfSide } from '../compare/request.js'
import { spanWords } from '../experiments/duration.js'
import { shownTarget } from '../experiments/experiment-servers.js'
import { optionWords, typedWords } from '../experiments/options.js'
import { hardware } from '../experiments/summary.js'
import { typedLine } from '../options/command-line.js'
import { settingsOf } from '../options/read-settings.js'
import { writeFiles } from '../report/write-report.js'
import { runName } from '../result/files.js'
import { printAnswer } from './answer.js'
import { compareFind } from './compare-find-report.js'
import { findOptions, findRequest, loadOptions } from './find-options.js'

/**
 * @import { FindRound, Searched } from '../compare/find-ratio.js'
 * @import { SideRequest } from '../compare/request.js'
 * @import { Options } from '../experiments/schema.js'
 */

const program = fileURLToPath(new URL('./millrace.js', import.meta.url))
const usualRounds = 3
const leastRounds = 2
// Beside its load a search starts, encodes and writes its page.
const besideS = 12

/** Options of `millrace find` that a comparison passes on. */
const ofSearch = ['slo', 'within', 'share', 'time', 'yes']

export const compareFindOptions = ownOptions('Options', [
  {
    name: 'find',
    type: 'flag',
    help: 'compare the highest rates that both sides sustain under --slo, each searched by millrace find: needs two sides',
    brief: 'compare the highest rates under --slo',
  },
  ...findOptions
    .filter(({ name }) => ofSearch.includes(name))
    .map(({ default: otherwise, help, ...option }) => ({
      ...option,
      ...(otherwise !== undefined && { otherwise: String(otherwise) }),
      help: `of --find: ${help}`,
      brief: undefined,
    })),
])

/** The options that belong to it. */
export const compareFindNames = compareFindOptions.map(({ name }) => name)

/**
 * The options of the search of a side, checked as if they had been typed.
 * @param {SideRequest} side
 * @param {{ load: Options, where: Options }} common
 * @param {readonly string[]} searchWords
 * @param {NodeJS.ProcessEnv} env
 */
const lineOf = ({ name, options, server, config, home }, { load, where }, searchWords, env) => {
  if (config.length > 0 || home !== null)
    throw new OptionError(`${name}: config. and millrace= do not go together with --find`)
  const args = [
    ...searchWords,
    ...optionWords({ ...where, ...load, ...options, ...(server !== null && { 'server-bin': server }) }),
  ]
  const all = [...findOptions, ...loadOptions]
  const typed = typedLine(args, all)
  findRequest({
    settings: settingsOf(typed, findOptions, { env, takesWords: true }),
    typed,
    env,
    dotenvText: undefined,
  })
  return args
}

/**
 * @param {readonly string[]} args
 * @param {object} about
 * @param {string} about.folder
 * @param {NodeJS.ProcessEnv} about.env
 * @param {NodeJS.ProcessEnv} about.secrets variables that no process list may show
 * @param {AbortSignal} about.signal
 * @returns {Promise<Searched | null>} null: it came to no answer
 */
const searched = async (args, { folder, env, secrets, signal }) => {
  const child = startChild(program, ['find', ...args, '--json', '--quiet', '--out', folder], {
    env: programsEnv(env),
    secrets,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  const end = () => child.kill('SIGINT')
  signal.addEventListener('abort', end)
  await new Promise((resolve) => child.once('close', resolve))
  signal.removeEventListener('abort', end)
  if (text === '') return null
  const { state, find, sentence, run } = JSON.parse(text)
  return { state, find, sentence, folder: join(folder, run) }
}

/**
 * @param {object} asked
 * @param {Record<string, any>} asked.values
 * @param {(SideRequest & { id: string })[]} asked.sides
 * @param {Parameters<typeof lineOf>[1]} asked.common
 * @param {readonly string[]} asked.given
 * @param {NodeJS.ProcessEnv} asked.env
 * @param {(line: string) => void} asked.say
 * @param {() => AbortSignal} asked.interrupts
 */
export const compareFinds = async ({ values, sides, common, given, env, say, interrupts }) => {
  if (sides.length !== 2) throw new OptionError(`--find compares two sides, not ${sides.length}`)
  for (const name of ['until-sure', 'max-rounds', 'resume', 'threshold'])
    if (values[name] !== undefined && values[name] !== false)
      throw new OptionError(`--${name} does not go together with --find`)
  const searchWords = ofSearch.flatMap((name) => {
    const value = values[name]
    if (value === undefined || value === false) return []
    if (name === 'slo')
      return String(value)
        .split('\n')
        .flatMap((slo) => ['--slo', slo])
    return value === true
      ? [`--${name}`]
      : [`--${name}`, name === 'time' ? `${value / 1000}s` : String(value)]
  })
  const lines = sides.map((side) => lineOf(side, common, searchWords, env))
  const rounds = values.rounds ?? usualRounds
  const seconds = rounds * 2 * ((values.time ?? 180_000) / 1000 + besideS)
  const [a, b] = sides
  const question = `The highest rates of ${a.name} and ${b.name}`
  if (values['dry-run']) {
    process.stdout.write(
      `${plainText(question)}: ${several(rounds, 'round')}, about ${spanWords(seconds * 1000)}\n`,
    )
    return ExitCode.done
  }
  const { REDIS_PASSWORD, REDIS_SENTINEL_PASSWORD } = env
  const { target } = placeOfSide(common.where)
  const where = target ? shownTarget(target, env) : optionWords(common.where)
  const secrets = target ? { REDIS_PASSWORD, REDIS_SENTINEL_PASSWORD } : {}
  const signal = interrupts()
  const [startedMs, beganMs] = [Date.now(), performance.now()]
  const folder = join(values.out, runName(startedMs, idOf(...sides)))
  await mkdir(folder, { recursive: true })
  /** @type {FindRound[]} */
  const played = []
  let lost = 0
  for (let round = 1; round <= rounds && !signal.aborted; round++) {
    const first = /** @type {'a' | 'b'} */ (round % 2 === 1 ? 'a' : 'b')
    /** @type {Partial<Record<'a' | 'b', Searched | null>>} */
    const found = {}
    for (const id of first === 'a' ? /** @type {const} */ (['a', 'b']) : /** @type {const} */ (['b', 'a'])) {
      if (signal.aborted) break
      const at = id === 'a' ? 0 : 1
      const seed = ['--seed', String(values.seed + round)]
      found[id] = await searched([...lines[at], ...seed], { folder, env, secrets, signal })
      say(`round ${round} of ${rounds}, ${sides[at].name}: ${found[id]?.sentence ?? 'no answer'}`)
    }
    if (found.a && found.b) played.push({ round, first, a: found.a, b: found.b })
    else lost++
  }
  const names = { a: a.name, b: b.name }
  const { ratio, sentence, ...answer } = ratioAnswer(played, names, played.length + lost)
  const document = plainData({
    ...answer,
    started: new Date(startedMs).toISOString(),
    duration_s: (performance.now() - beganMs) / 1000,
    command: typedWords([
      ...['millrace', 'compare', ...given, '--find', ...searchWords, '--rounds', String(rounds)],
      ...['--seed', String(values.seed), ...optionWords(common.load), ...where],
    ]),
    versions: { millrace: millraceVersion(), node: process.versions.node },
    hardware: hardware(),
    sentence,
    ratio,
  })
  await writeFiles(folder, await compareFind.files(document))
  const page = join(folder, 'compare.html')
  printAnswer(document, values.json, (one, layout) => compareFind.text(one, { ...layout, page }))
  if (signal.aborted) return ExitCode.interrupted
  return ratio.rounds >= leastRounds ? ExitCode.done : ExitCode.invalid
}
