#!/usr/bin/env node
// Plays seeds of the simulated cluster: each with its faults, in virtual time; one that fails is shrunk to the faults it needs.
import { parseArgs } from 'node:util'
import { failureOf, faultWords, playSeed, plays } from '../test/simulation/seeds.js'

const usage = `Usage: node scripts/simulate.js [options]

  --driver NAME   socket, clients, bundles, fleet or overload (socket)
  --seed N|N-M    seeds (1-200)
  --faults LIST   of one seed: only these of its faults, such as 0,3, or none; prints them and the outcomes
  --first         stops at the first seed that fails, and does not shrink it
  -h, --help      this text`

const { values } = parseArgs({
  options: {
    driver: { type: 'string', default: 'socket' },
    seed: { type: 'string', default: '1-200' },
    faults: { type: 'string' },
    first: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit()
}
const driver = /** @type {keyof typeof plays} */ (values.driver)
if (!(driver in plays)) throw new Error(`--driver ${driver}: there are ${Object.keys(plays).join(', ')}`)
const [from, to = from] = values.seed.split('-').map(Number)

const firstBroken = async (/** @type {number} */ seed) => {
  const { broken } = await playSeed(driver, seed)
  return broken.length === 0 ? null : `seed ${seed}: ${broken[0]}`
}

if (values.faults !== undefined) {
  const keep = values.faults === 'none' ? [] : values.faults.split(',').map(Number)
  const { broken, faults, items } = await playSeed(driver, from, keep)
  for (const fault of faults ?? []) console.log(faultWords(fault))
  console.log(JSON.stringify(items))
  for (const line of broken) console.log(`broken: ${line}`)
  if (broken.length > 0) process.exitCode = 1
} else {
  const started = performance.now()
  let failed = 0
  for (let seed = from; seed <= to && !(values.first && failed > 0); seed++) {
    const failure = await (values.first ? firstBroken(seed) : failureOf(driver, seed))
    if (failure === null) continue
    failed++
    console.log(failure)
  }
  const seconds = (performance.now() - started) / 1000
  console.log(`${to - from + 1} seeds, ${failed} failed, ${seconds.toFixed(1)} s`)
  if (failed > 0) process.exitCode = 1
}
