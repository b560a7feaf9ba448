// Whether a load is even or comes in bursts, and when it ends, in words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf } from '../../lib/loads/plan.js'
import { beginningWords, lengthWords, readingWords, rhythmWords } from '../../lib/loads/rhythm.js'
import { settingsOf } from '../helpers/sample-plan.js'
import { rowsOf } from '../helpers/table.js'

const asPublished = 'as published (-q, -c, -p)'

for (const [line, words] of rowsOf(`
-q 50000 -> sorted-set: 50,000 items/s in bursts of 50,000 every 1 s, ${asPublished}, until Ctrl-C
-q 300 -p 500 -c 3 --duration 60 -> sorted-set: 600 items/s in bursts of 100 every 166.7 ms, ${asPublished}, for 60 s
--rate 50k --items 10k --duration 9 -> sorted-set: 50,000 items/s at an even rate (--rate), for 9 s
-q 500 --intervals 4 -> sorted-set: 500 items/s in bursts of 500 every 1 s, ${asPublished}, for 4 s
-q 500 --sl --pacing smooth -> list: 500 items/s at an even rate (--rate), until Ctrl-C
-q 500 --pacing closed -> sorted-set: 500 items, then 1 s of rest, until Ctrl-C
--rate max -> sorted-set: items as fast as the servers accept them, until Ctrl-C
--strategy lookup-get -> lookup-get: operations as fast as the replies come (a closed loop), until Ctrl-C
--strategy lookup-get --rate 5k -> lookup-get: 5,000 operations/s at an even rate (--rate), until Ctrl-C
--strategy lookup-get --rate 5k --arrivals poisson -> lookup-get: 5,000 operations/s, at random moments (Poisson arrivals), until Ctrl-C
--rate 200 --arrivals poisson -> sorted-set: 200 items/s, at random moments (Poisson arrivals), until Ctrl-C
--rate 300 --arrivals poisson -> sorted-set: 300 items/s in batches of 1.5, at random moments (Poisson arrivals), until Ctrl-C
--rate 2000 --arrivals poisson -> sorted-set: 2,000 items/s in batches of 10, at random moments (Poisson arrivals), until Ctrl-C
--strategy membership-set -> membership-set: operations as fast as the replies come (a closed loop), to the end of its passes
`))
  test(line, () => {
    const settings = settingsOf(line)
    const plan = planOf(settings, { agents: [1], masters: 1, cluster: false, variant: null })
    assert.equal(`${settings.strategy}: ${rhythmWords(plan)}, ${lengthWords(plan)}`, words)
    assert.equal(beginningWords(settings), `writes ${words}`)
  })

for (const [line, words] of [
  ['--limit 9', 'reads every 1 s, until Ctrl-C'],
  ['-p 250 --duration 9', 'reads every 250 ms, for 9 s'],
  ['--pacing closed', 'reads 1 s after each fetch, until Ctrl-C'],
])
  test(`consumer ${line}`, () => assert.equal(readingWords(settingsOf(line, 'consumer')), words))
