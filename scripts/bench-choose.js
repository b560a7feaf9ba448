#!/usr/bin/env node
// What the choices of `millrace choose` cost beside the best candidate, over twenty workloads. The costs are those of a
// longer measurement behind each choice, of which the choice knows nothing.
import { spawn } from 'node:child_process'
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shuffle, uniforms } from '../lib/answers/find/random.js'
import { ExitCode } from '../lib/base/errors.js'
import { measuredIdle, playOf, recordOfChoice } from '../lib/cli/choose.js'
import { chooseOptions, chooseRequest, serversIn } from '../lib/cli/choose-options.js'
import { screenSay } from '../lib/cli/say.js'
import { repositoryScript } from '../lib/cli/script.js'
import { interruptsOfSeries } from '../lib/cli/signals.js'
import { typedLine } from '../lib/options/command-line.js'
import { settingsOf } from '../lib/options/read-settings.js'
import { findServerBinary } from '../lib/servers/embedded-binary.js'
import { linesIn, refuseNumbers, wordsOf } from './bench/arguments.js'
import { alikeLine, barsLines, ratioOfCosts, workloads } from './bench/choose-workloads.js'

/**
 * @import { Alike, Line, Workload } from './bench/choose-workloads.js'
 * @import { StdioOptions } from 'node:child_process'
 */

const usage = `Usage: npm run bench:choose -- [options]

  --file PATH     results, a line a workload; those that are in it are not measured again (choose.ndjson)
  --minutes N     begin no further workload after so many minutes
  --long SECONDS  of the long measurement of a workload (80)
  --alike N       instead, N choices between a server and a copy of it, a line each in --file
  --only IDS      workloads: ${workloads[0].id},${workloads[1].id}
  -h, --help      this text`

const program = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))
// Measured, of every run: more than choose does.
const windowS = 3
// One that costs this much more than another one in each of the first rounds cannot be the best.
const clearRounds = 2
const clearly = 1.3

/** @param {string[]} argv @param {AbortSignal} stop @returns {Promise<any>} choose.json */
const chosenBy = (argv, stop) =>
  new Promise((resolve, reject) => {
    const out = mkdtempSync(join(tmpdir(), 'choose-'))
    const stdio = /** @type {StdioOptions} */ (['ignore', 'pipe', 'pipe'])
    const child = spawn(process.execPath, [program, 'choose', ...argv, '--json', '--out', out], {
      stdio,
      signal: stop,
    })
    const text = { stdout: '', stderr: '' }
    child.stdout?.on('data', (data) => {
      text.stdout += data
    })
    child.stderr?.on('data', (data) => {
      text.stderr += data
    })
    child.once('error', reject)
    child.once('close', () => {
      rmSync(out, { recursive: true })
      if (text.stdout === '') reject(new Error(text.stderr))
      else resolve(JSON.parse(text.stdout))
    })
  })

/**
 * Rounds of all candidates, in which those that clearly cost more take part at first only.
 * @param {ReturnType<typeof chooseRequest>} request
 * @param {string} chosen
 * @param {number} longS
 * @param {number} seed
 * @param {AbortSignal} stop
 */
const measuredLong = async ({ candidates, asked: loaded }, chosen, longS, seed, stop) => {
  const asked = { ...loaded, seconds: windowS }
  const endMs = performance.now() + longS * 1000
  const { idle } = await measuredIdle(asked, candidates[0], stop)
  const uniform = uniforms(seed)
  /** @type {Line['long']} */
  const long = []
  let left = candidates
  let lost = 0
  for (let round = 1; performance.now() < endMs || round <= clearRounds; round++) {
    for (const candidate of shuffle(left, uniform)) {
      const { run, reader } = await playOf(asked, candidate, stop)
      const { outcome, record } = recordOfChoice({ asked, at: 0, round, run, reader, idle })
      const { cpu, memory, network } = record.metrics
      if (outcome.cost === null) lost++
      else
        long.push({
          round,
          candidate: candidate.name,
          cost: rounded(outcome.cost),
          cpu: orNull(cpu),
          memory: orNull(memory),
          network: orNull(network),
        })
    }
    if (round === clearRounds)
      left = left.filter(
        ({ name }) =>
          name === chosen ||
          !candidates.some((other) => (ratioOfCosts(long, name, other.name) ?? 0) > clearly),
      )
  }
  return { long, lost }
}

const rounded = (/** @type {number} */ value) => Number(value.toPrecision(5))
/** @param {number | null | undefined} value */
const orNull = (value) => (typeof value === 'number' ? rounded(value) : null)

/** @param {string} name */
const peerFile = (name) => serversIn(name, process.env)[0].file

/** @param {Workload} workload @param {number} longS @param {AbortSignal} stop @returns {Promise<Line>} */
const measured = async ({ id, options, server }, longS, stop) => {
  const argv = [...options.split(' '), ...(server ? ['--server-bin', peerFile(server)] : [])]
  const request = chooseRequest(settingsOf(typedLine(argv, chooseOptions), chooseOptions, { env: {} }), {})
  const { started, state, chosen, candidates, duration_s, runs, versions, hardware, asked } = await chosenBy(
    argv,
    stop,
  )
  const { long, lost } = await measuredLong(
    { ...request, asked: { ...request.asked, rate: asked.rate, items: asked.items } },
    chosen,
    longS,
    runs,
    stop,
  )
  return {
    ...{ id, options, started, versions, hardware, rate: asked.rate, state, chosen },
    candidates: candidates.map((/** @type {any} */ { name, place, cost }) => ({
      ...{
        name,
        place,
        ratio: orNull(cost?.ratio),
        low: orNull(cost?.low),
        high: orNull(cost?.high),
      },
    })),
    ...{ choose_s: duration_s, runs, lost, long },
  }
}

const models = ['list', 'sorted-set', 'stream']

/** @param {number} i @param {AbortSignal} stop @returns {Promise<Alike>} */
const alike = async (i, stop) => {
  const folder = mkdtempSync(join(tmpdir(), 'alike-'))
  const copies = ['a', 'b'].map((name) => {
    const { file } = findServerBinary()
    const copy = join(folder, name, basename(file))
    mkdirSync(join(folder, name))
    copyFileSync(file, copy)
    return copy
  })
  const options = `--across servers --strategy ${models[i % models.length]} --rate 5k --items 1k --seconds 1 --time 90s --seed ${i}`
  try {
    const { state, candidates, rounds } = await chosenBy(
      [...options.split(' '), '--servers', copies.join(',')],
      stop,
    )
    return {
      ...{ id: `alike-${i}`, options, state, rounds },
      apart: candidates.some((/** @type {any} */ { place }) => place === 'worse'),
      ratio: orNull(candidates[1].cost?.ratio),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

await repositoryScript({
  usage,
  options: {
    file: { type: 'string', default: 'choose.ndjson' },
    minutes: { type: 'string', default: '1000' },
    long: { type: 'string', default: '80' },
    only: { type: 'string' },
    alike: { type: 'string' },
  },
  work: async ({ file, minutes, long, only, alike: series }) => {
    refuseNumbers({ minutes, long, alike: series ?? '1' })
    const ids = workloads.map(({ id }) => id)
    const chosen = only === undefined ? ids : wordsOf(only, ids, 'workload has the id')
    const stop = interruptsOfSeries()
    const endMs = performance.now() + Number(minutes) * 60_000
    if (series !== undefined) {
      for (let i = linesIn(file).length; i < Number(series) && performance.now() < endMs; i++)
        appendFileSync(file, `${JSON.stringify(await alike(i, stop))}\n`)
      process.stdout.write(`${alikeLine(linesIn(file))}\n`)
      return ExitCode.done
    }
    const known = new Set(linesIn(file).map(({ id }) => id))
    for (const workload of workloads) {
      if (known.has(workload.id) || !chosen.includes(workload.id)) continue
      if (performance.now() > endMs) break
      const line = await measured(workload, Number(long), stop)
      appendFileSync(file, `${JSON.stringify(line)}\n`)
      screenSay(`${line.id}: ${line.chosen} in ${line.choose_s} s`)
    }
    process.stdout.write(`${barsLines(linesIn(file)).join('\n')}\n`)
    return ExitCode.done
  },
})
