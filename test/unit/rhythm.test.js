// Whether a load is even or comes in bursts, and when it ends, in words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '../../lib/cli/options.js'
import { planOf } from '../../lib/plan/plan.js'
import { rhythmWords } from '../../lib/plan/rhythm.js'

for (const [line, words] of [
  [
    '-q 50000',
    '50,000 items/s in bursts of 50,000 every 1 s (--rate 50000 spaces them evenly), until Ctrl-C',
  ],
  [
    '-q 300 -p 500 -c 3 --duration 60',
    '600 items/s in bursts of 100 every 166.7 ms (--rate 600 spaces them evenly), for 60 s',
  ],
  ['--rate 50k --items 10k --duration 9', '50,000 items/s, evenly spaced, for 9 s'],
  ['-q 500 --intervals 4', '500 items/s in bursts of 500 every 1 s (--rate 500 spaces them evenly), for 4 s'],
  ['-q 500 --pacing smooth', '500 items/s, evenly spaced, until Ctrl-C'],
  ['-q 500 --pacing closed', '500 items, then 1 s of rest, until Ctrl-C'],
  ['--rate max', 'items as fast as the servers accept them, until Ctrl-C'],
  ['--strategy lookup-get', 'operations as fast as the replies come (a closed loop), until Ctrl-C'],
  ['--strategy lookup-get --rate 5k', '5,000 operations/s, evenly spaced, until Ctrl-C'],
  [
    '--strategy lookup-get --rate 5k --arrivals poisson',
    '5,000 operations/s, Poisson arrivals, until Ctrl-C',
  ],
])
  test(line, () => {
    const settings = readSettings({ program: 'producer', argv: line.split(' '), env: {} })
    assert.ok('given' in settings)
    const plan = planOf(settings, { agents: [1], masters: 1, cluster: false, variant: null })
    assert.equal(rhythmWords(plan), words)
  })
