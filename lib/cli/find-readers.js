// Consumers beside a search (`--with-read`): a process of its own, that reads what is written until the search ends.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { optionsOf, wordsOf } from '../../settings.js'
import { programsEnv } from '../base/child.js'
import { OptionError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { linesOf, startProgram } from '../experiments/programs.js'
import { typedLine } from '../options/command-line.js'
import { settingsOf } from '../options/read-settings.js'
import { documentOf } from '../result/facts.js'
import { strategyNamed } from '../workloads/index.js'

/**
 * @import { ReaderSettings, Settings } from '../../settings.js'
 * @import { Typed } from '../options/command-line.js'
 * @import { Target } from '../servers/open.js'
 * @import { Line } from '../measures/fold.js'
 * @import { Facts } from '../result/facts.js'
 * @import { Run } from '../measures/section.js'
 *
 * @typedef {Awaited<ReturnType<typeof startReaders>>} Readers
 */

const consuming = optionsOf('consumer')
// What one fetch is like, and how often; all else is the search's.
const ofFetches = consuming.filter(({ name, for: programs }) => programs.length === 1 || name === 'period')
const firstFetchMs = 60_000
const lookMs = 50

/** `consumers=10,verify` as words of a command line @param {string} text */
const wordsIn = (text) =>
  text.split(',').flatMap((part) => {
    const [name, value] = part.trim().split(/=(.*)/s)
    const [option, ...more] = wordsOf(name, value ?? true)
    return more.length > 0 ? [`${option}=${more[0]}`] : [option]
  })

/** `consumers=10,limit=100,verify` @param {string} text @param {string} strategy @returns {readonly string[]} words of a command line */
export const readersWordsIn = (text, strategy) => {
  const words = wordsIn(text)
  const { read, queue } = strategyNamed(strategy)
  if (!read && !queue) throw new OptionError(`--with-read: ${strategy} has no items that a consumer reads`)
  try {
    const typed = typedLine(words, ofFetches)
    if (typed.help !== null)
      throw new OptionError(`must be options of millrace read, as in consumers=10,fetch-rate=50`)
    const { rates } = settingsOf(
      queue ? typedLine([...words, '--strategy', strategy], consuming) : typed,
      consuming,
      { env: {} },
    )
    if (rates) throw new OptionError('consumers beside a search fetch at one rate')
  } catch (error) {
    if (error instanceof OptionError) throw new OptionError(`--with-read: ${error.message}`)
    throw error
  }
  return words
}

/**
 * Settings of consumers whose rate is searched (`--read`): what was typed for the search, and what one fetch is like.
 * @param {string} text of --read
 * @param {Typed} typed
 * @param {Parameters<typeof settingsOf>[2]} from
 */
export const settingsOfFetches = (text, typed, from) => {
  const words = wordsIn(text)
  try {
    const more = typedLine(words, ofFetches)
    if (more.help !== null) throw new OptionError('must be options of millrace read, as in consumers=10')
    const decided = ['fetch-rate', 'period'].find((name) => more.options.has(name))
    if (decided) throw new OptionError(`${decided}: the search decides how often they fetch`)
    const known = [...typed.options].filter(([name]) => consuming.some((option) => option.name === name))
    const all = { ...typed, options: new Map([...known, ...more.options]) }
    const settings = /** @type {ReaderSettings} */ (settingsOf(all, consuming, from))
    if (!strategyNamed(settings.strategy).read)
      throw new OptionError(`${settings.strategy} has no items that a consumer reads`)
    return settings
  } catch (error) {
    throw error instanceof OptionError ? new OptionError(`--read: ${error.message}`) : error
  }
}

/** The servers of the search, as variables. @param {Settings} settings @param {Target} target */
const serversOf = (settings, { address, access, kind }) => {
  const at = address.lastIndexOf(':')
  const { sentinel, host = address.slice(0, at), port = address.slice(at + 1), username, db } = settings
  const { tls, tlsInsecure, caFile, certFile, keyFile } = settings
  const { iam } = settings
  const named = {
    SENTINEL: sentinel,
    USERNAME: username,
    DB: db,
    CA: caFile,
    CERT: certFile,
    KEY: keyFile,
    IAM: iam,
  }
  const flags = { CLUSTER: kind === 'cluster', TLS: tls, TLS_INSECURE: tlsInsecure }
  const all = { HOST: host, PORT: port, ...named, ...flags }
  return {
    env: Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value ? [[`REDIS_${name}`, String(value)]] : [])),
    ),
    secrets: {
      ...(access.password && !iam && { REDIS_PASSWORD: access.password }),
      ...(settings.sentinelPassword && { REDIS_SENTINEL_PASSWORD: settings.sentinelPassword }),
    },
  }
}

/**
 * What was fetched between two moments, as run.json of consumers has it.
 * @param {readonly Line[]} all lines of intervals.ndjson
 * @param {() => Promise<Facts>} factsOf the run
 * @param {number} fromEpochMs
 * @param {number} toEpochMs
 * @returns {Promise<Run | null>} null: no second is between them
 */
export const documentDuring = async (all, factsOf, fromEpochMs, toEpochMs) => {
  const lines = all.filter(
    ({ epoch_ms: epochMs = 0, at_ms: atMs }, i) =>
      epochMs <= toEpochMs && epochMs - (atMs - (all[i - 1]?.at_ms ?? 0)) >= fromEpochMs,
  )
  if (lines.length === 0) return null
  const facts = await factsOf()
  const before = all[all.indexOf(lines[0]) - 1]?.at_ms ?? 0
  const overS = (lines[lines.length - 1].at_ms - before) / 1000
  const sums = { linesBefore: 0, overS, stored: 0, facts: facts.sums?.facts ?? {} }
  return documentOf({ ...facts, thresholds: [], sums }, lines, [])
}

/**
 * @param {object} needs
 * @param {readonly string[]} needs.words which data model is read, as it was typed, and those of --with-read
 * @param {Settings} needs.settings of the search
 * @param {Target} needs.target
 * @param {string} needs.folder of the search
 * @param {AbortSignal} needs.stop
 * @param {(why: string) => void} needs.onGone they ended before the search
 */
export const startReaders = async ({ words, settings, target, folder, stop, onGone }) => {
  const { env, secrets } = serversOf(settings, target)
  const { prefix, allow } = settings
  const program = startProgram('consumer', {
    args: [
      ...words,
      ...(prefix ? ['--prefix', prefix] : []),
      ...(allow.length > 0 ? ['--allow', allow.join(',')] : []),
    ],
    outDir: folder,
    name: 'readers',
    env: { ...programsEnv(process.env), ...env },
    secrets,
    limitMs: null,
  })
  let isEnding = false
  program.ended.then(
    () => !isEnding && onGone('the consumers of --with-read have ended before the search'),
    (error) => !isEnding && onGone(`the consumers of --with-read: ${plainText(error.message)}`),
  )
  const path = join(program.folder, 'intervals.ndjson')
  const isFetching = async () => (await linesOf(path)).some(({ duration_us: times, jobs }) => times || jobs)
  const limitMs = performance.now() + firstFetchMs
  while (!(await isFetching()) && !program.isOver() && !stop.aborted && performance.now() < limitMs)
    await sleep(lookMs)
  return {
    end: () => {
      isEnding = true
      program.interrupt()
    },
    /**
     * What was fetched between two moments, as run.json of consumers has it.
     * @param {number} fromEpochMs
     * @param {number} toEpochMs
     * @returns {Promise<Run | null>}
     */
    async during(fromEpochMs, toEpochMs) {
      const whole = await program.ended.catch(() => null)
      if (!whole) return null
      const facts = async () => JSON.parse(await readFile(join(whole.folder, 'facts.json'), 'utf8'))
      return documentDuring(whole.lines, facts, fromEpochMs, toEpochMs)
    },
  }
}
