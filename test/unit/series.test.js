// A series of runs: each is stored before the next, and while the client is the limit all is played slower.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { series, slowerWhileLimited } from '../../lib/base/series.js'
import { turnsUntil } from '../../lib/experiments/matrix.js'

/** @returns {Generator<number, string, number>} */
function* threeTurns() {
  const seen = []
  for (const turn of [1, 2, 3]) seen.push(yield turn)
  return seen.join(' ')
}

/** @param {(turn: number, stop: AbortController) => Promise<number | null>} play */
const playedBy = async (play) => {
  const log = /** @type {string[]} */ ([])
  const stop = new AbortController()
  const answer = await series({
    order: threeTurns(),
    play: (turn) => {
      log.push(`play ${turn}`)
      return play(turn, stop)
    },
    store: {
      add: async (turn, result) => {
        await null
        log.push(`add ${turn}: ${result}`)
      },
      drop: (turn) => log.push(`drop ${turn}`),
    },
    stop: stop.signal,
  })
  return { answer, log: log.join(', ') }
}

test('an order receives what each turn came to, which is stored before the next is played', async () => {
  const { answer, log } = await playedBy(async (turn) => turn * 10)
  assert.equal(answer, '10 20 30')
  assert.equal(log, 'play 1, add 1: 10, play 2, add 2: 20, play 3, add 3: 30')
})

test('a turn that is interrupted or comes to nothing is dropped, and ends the series', async () => {
  const stopped = await playedBy(async (turn, stop) => {
    if (turn === 2) stop.abort()
    return turn
  })
  const nothing = await playedBy(async (turn) => (turn === 2 ? null : turn))
  for (const { answer, log } of [stopped, nothing])
    assert.deepEqual([answer, log], [null, 'play 1, add 1: 1, play 2, drop 2'])
})

test('while the client is the limit it is played at 0.6 of the rate, three times more at most', async () => {
  const played = async (/** @type {number} */ until, from = 1) => {
    const rates = /** @type {string[]} */ ([])
    const slower = /** @type {number[]} */ ([])
    await slowerWhileLimited({
      factor: from,
      play: async (factor, mayBeSlower) => rates.push(`${factor.toFixed(3)} ${mayBeSlower}`),
      isLimited: (runs) => runs < until,
      onSlower: (factor) => slower.push(factor),
    })
    assert.equal(slower.length, rates.length - 1)
    return rates.join(', ')
  }
  assert.equal(await played(1), '1.000 true')
  assert.equal(await played(2, 0.5), '0.500 true, 0.300 true')
  assert.equal(await played(9), '1.000 true, 0.600 true, 0.360 true, 0.216 false')
})

test('turns that are done are left out, and it ends after the first whole round that is enough', () => {
  const cells = /** @type {any} */ (['a', 'b'].map((id) => ({ id })))
  const asked = { repeat: 5, seed: 1 }
  const turns = (/** @type {readonly any[]} */ done, /** @type {number} */ enough) =>
    [...turnsUntil(cells, { ...asked, done, isEnough: (rounds) => rounds >= enough })].map(
      ({ cell, round }) => `${cell.id}${round}`,
    )
  assert.equal(turns([], 9).length, 10)
  assert.deepEqual(turns([], 2).sort(), ['a1', 'a2', 'b1', 'b2'])
  const known = ['a', 'b'].map((cell) => ({ cell, round: 1 }))
  assert.deepEqual(turns([...known, { cell: 'a', round: 2 }], 2), ['b2'])
})
