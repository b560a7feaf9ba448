#!/usr/bin/env node
// How often comparisons err on this machine: a version with itself, changes that are really there, and recorded noise.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { clockTime } from '../lib/base/units.js'
import { repositoryScript } from '../lib/cli/script.js'
import { rulingOf } from '../lib/compare/gates.js'
import { pairedOf } from '../lib/result/paired.js'
import { thresholdOf } from '../lib/result/thresholds.js'

const usage = `Usage: node scripts/false-alarms.js aa [options]
       node scripts/false-alarms.js regressions [options]
       node scripts/false-alarms.js recorded COMPARE.JSON... [options]

  aa            compares a version with itself, again and again: at most 1 in 20 may fail its thresholds
  regressions   compares it with changes that are really there: at least 9 in 10 must fail
  recorded      draws comparisons out of the rounds of finished ones, and counts how many fail

  --tries N     comparisons (aa 50, of each regression 10, recorded 10000)
  --rounds N    of each (aa 6, regressions 12, recorded as --rounds says)
  --seconds N   measured, of every run (3)
  --quantity N  items a second (20000)
  --minutes N   begins no further comparison after so long (120)
  --short       2 tries of 2 rounds of 1 s: shows that it runs, not how it errs
  -h, --help    this text`

const millrace = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))

/** @typedef {{ name: string, side: string, thresholds: string[] }} Case */

const gates = [
  'server.cpu_us_per_item<+5%',
  'server.memory_bytes_per_item<+5%',
  'server.net_bytes_per_item<+5%',
]

/** @type {Case[]} */
const regressions = [
  { name: 'value size +25 %, by memory', side: 'value-size=160', thresholds: [gates[1]] },
  { name: 'value size +25 %, by network', side: 'value-size=160', thresholds: [gates[2]] },
  {
    name: 'a second sorted set for every item, by server CPU',
    side: 'extra-sorted-sets=1',
    thresholds: [gates[0]],
  },
  { name: 'appendonly yes, by server CPU', side: 'config.appendonly=yes', thresholds: [gates[0]] },
]

const print = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)

/** @param {string[]} args @param {AbortSignal} signal @returns {Promise<number | null>} the exit code */
const run = (args, signal) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [millrace, 'compare', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let words = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      words = (words + text).slice(-2000)
    })
    const end = () => child.kill('SIGINT')
    signal.addEventListener('abort', end)
    child.once('error', reject)
    child.once('close', (code) => {
      signal.removeEventListener('abort', end)
      if (code === ExitCode.options || code === ExitCode.fault) reject(new OptionError(words.trim()))
      else resolve(code)
    })
  })

/** @param {Record<string, any>} values @param {string} name @param {number} otherwise */
const numberOf = (values, name, otherwise) => {
  const value = values[name] === undefined ? otherwise : Number(values[name])
  if (!(value > 0)) throw new OptionError(`--${name} must be a number above 0`)
  return value
}

/** @param {Case[]} cases @param {Record<string, any>} values @param {{ tries: number, rounds: number }} usual */
const measured = async (cases, values, usual) => {
  const short = values.short === true
  const tries = short ? 2 : numberOf(values, 'tries', usual.tries)
  const rounds = short ? 2 : numberOf(values, 'rounds', usual.rounds)
  const seconds = short ? 1 : numberOf(values, 'seconds', 3)
  const untilMs = performance.now() + numberOf(values, 'minutes', 120) * 60_000
  const quantity = String(numberOf(values, 'quantity', short ? 2000 : 20_000))
  const out = await mkdtemp(join(tmpdir(), 'millrace-calibrate-'))
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const total = tries * cases.length
  const startMs = performance.now()
  let done = 0
  try {
    for (const { name, side, thresholds } of cases) {
      const codes = { passed: 0, unclear: 0, failed: 0, invalid: 0 }
      let own = 0
      for (; own < tries && performance.now() < untilMs && !stop.signal.aborted; own++) {
        const code = await run(
          [
            ...['default', side, '--rounds', String(rounds), '--seconds', String(seconds), '--warm-up', '1'],
            ...[
              '--seed',
              String(own + 1),
              '--out',
              out,
              ...thresholds.flatMap((limit) => ['--threshold', limit]),
            ],
            ...['--', '-q', quantity, '-t', '2'],
          ],
          stop.signal,
        )
        if (code === ExitCode.threshold) codes.failed++
        else if (code === ExitCode.unclear) codes.unclear++
        else if (code === ExitCode.done) codes.passed++
        else codes.invalid++
        done++
        const eachMs = (performance.now() - startMs) / done
        process.stderr.write(
          `[${done}/${total}] ${name}: exit ${code} - ${clockTime(eachMs * (total - done))} left\n`,
        )
      }
      print(
        `${name}: of ${own} comparisons of ${rounds} rounds ${codes.failed} failed (99), ${codes.unclear} cannot tell (98), ${codes.passed} passed (0), ${codes.invalid} not valid`,
      )
    }
  } finally {
    await rm(out, { recursive: true, force: true })
  }
  return stop.signal.aborted ? ExitCode.interrupted : ExitCode.done
}

/** Rounds drawn with replacement, their mean change taken off: as noisy as those recorded, and without a change. @param {string[]} paths @param {Record<string, any>} values */
const recorded = async (paths, values) => {
  if (paths.length === 0) throw new OptionError('recorded needs compare.json of finished comparisons')
  const tries = numberOf(values, 'tries', 10_000)
  const rounds = numberOf(values, 'rounds', 6)
  const random = xoroshiro128plus(1)
  for (const text of gates) {
    const threshold = thresholdOf(text)
    /** @type {number[]} */
    const changes = []
    for (const path of paths) {
      const { metrics } = JSON.parse(await readFile(path, 'utf8'))
      const metric = metrics.find((/** @type {any} */ { name }) => name === threshold.figure.name)
      if (!metric) continue
      const own = metric.other.samples.map((/** @type {number} */ b, /** @type {number} */ at) =>
        Math.log(b / metric.baseline.samples[at]),
      )
      const middle =
        own.reduce((/** @type {number} */ sum, /** @type {number} */ each) => sum + each, 0) / own.length
      // What taking the mean off has taken from the spread.
      const wider = Math.sqrt(own.length / (own.length - 1))
      changes.push(...own.map((/** @type {number} */ each) => (each - middle) * wider))
    }
    if (changes.length < 2) continue
    const outcomes = { passed: 0, unclear: 0, failed: 0 }
    let wrong = 0
    for (let one = 0; one < tries; one++) {
      const pairs = Array.from({ length: rounds }, () => ({
        a: 1,
        b: Math.exp(changes[uniformInt(random, 0, changes.length - 1)]),
        first: /** @type {const} */ ('a'),
      }))
      const difference = pairedOf(pairs)
      outcomes[
        rulingOf(
          threshold,
          '',
          difference,
          pairs.map(({ b }) => b),
        ).outcome
      ]++
      if (difference.verdict === 'better' || difference.verdict === 'worse') wrong++
    }
    const part = (/** @type {number} */ n) => `${((100 * n) / tries).toFixed(1)} %`
    print(
      `${text}: ${changes.length} recorded rounds, ${tries} comparisons of ${rounds}: ${part(outcomes.failed)} failed (99), ${part(outcomes.unclear)} cannot tell (98), ${part(outcomes.passed)} passed; 'better' or 'worse' without a change: ${part(wrong)}`,
    )
  }
  return ExitCode.done
}

const text = /** @type {const} */ ({ type: 'string' })

await repositoryScript({
  usage,
  options: {
    tries: text,
    rounds: text,
    seconds: text,
    quantity: text,
    minutes: text,
    short: { type: 'boolean' },
  },
  work: async (values, [what, ...words]) => {
    if (what === 'aa')
      return measured([{ name: 'a version with itself', side: 'default', thresholds: gates }], values, {
        tries: 50,
        rounds: 6,
      })
    if (what === 'regressions') return measured(regressions, values, { tries: 10, rounds: 12 })
    if (what === 'recorded') return recorded(words, values)
    throw new OptionError('one of aa, regressions, recorded (--help explains them)')
  },
})
