#!/usr/bin/env node
// Kills a run by -9 at a moment that each seed draws, and compares what `millrace report` says with the servers' own count:
// node scripts/kills.js [--seed 1-60] [--place server | cluster | local | fleet | workers]
import { parseArgs } from 'node:util'
import { places, playKill } from '../test/helpers/kill-play.js'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1-60' }, place: { type: 'string' } },
})
const place = /** @type {keyof typeof places | undefined} */ (values.place)
if (place !== undefined && !(place in places))
  throw new Error(`--place ${place}: there are ${Object.keys(places).join(', ')}`)
const [from, to = from] = values.seed.split('-').map(Number)

let failed = 0
for (let seed = from; seed <= to; seed++) {
  const steps = /** @type {(() => unknown)[]} */ ([])
  const { line, broken } = await playKill({ after: (step) => steps.push(step) }, seed, place)
  for (const step of steps.reverse()) await step()
  console.log(line)
  for (const fault of broken) console.log(`  broken: ${fault}`)
  if (broken.length > 0) failed++
}
console.log(`${to - from + 1} kills, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
