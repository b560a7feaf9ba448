// An experiment on many boxes: each types the same line, box 1 keeps the results, and each cell is a run of all.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startCommand } from '../helpers/command-here.js'
import { assertCalls, urlOf } from '../helpers/fleet.js'
import { at, ownFolder } from '../helpers/programs.js'
import { callsOf, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

const tiny = {
  id: 'tiny',
  question: 'Is a list cheaper?',
  options: { 'total-agents': 3, quantity: 600, chunks: 2, strategy: 'list' },
  cells: [
    { name: 'sorted set', options: { strategy: 'sorted-set' } },
    { name: 'one writer', options: { 'total-agents': 1 } },
    { name: 'readers', options: {}, consumer: { consumers: 2 } },
  ],
}

test('two boxes play an experiment: its cells are runs of both, and box 1 has the results', async (t) => {
  const [target, control] = await Promise.all([startServer(t), startServer(t)])
  const own = ownFolder(t, 'boxes')
  const file = join(own, 'tiny.json')
  writeFileSync(file, JSON.stringify(tiny))
  const { REDIS_PASSWORD } = at(target)
  const env = { REDIS_PASSWORD, MILLRACE_CONTROL: urlOf(control) }
  const line = `experiment run ${file} --host ${target.host} --port ${target.port} --boxes 2 --seconds 3 --warm-up 0 --repeat 1 --run exp`
  const box = (/** @type {string} */ name, /** @type {string} */ more = '') =>
    startCommand(t, `${line} ${more}`, { env, out: join(own, name) })

  const first = box('first')
  await first.says(/box 1 of 2/)
  const other = await box('other', '--scale 0.5').ended
  assert.equal(other.code, 2, other.stderr)
  assert.match(other.stderr, /box 1 runs another experiment, or differs in --scale/)
  const second = box('second')
  const ended = await Promise.all([first.ended, second.ended])
  assert.equal(ended[1].code, 0, ended[1].stderr)
  assert.match(ended[1].stderr, /box 2 of 2: plays what box 1 announces/)
  assert.ok([0, 4].includes(Number(ended[0].code)), ended[0].stderr)
  assert.deepEqual(readdirSync(own).sort(), ['first', 'tiny.json'])

  const { folder, document } = ended[0]
  assert.equal(document, undefined)
  const experiment = JSON.parse(readFileSync(join(folder, 'experiment.json'), 'utf8'))
  const runOf = (/** @type {string} */ label) => {
    const { runs } = experiment.rows.find((/** @type {any} */ row) => row.label === label)
    return JSON.parse(readFileSync(join(folder, runs[0], 'run.json'), 'utf8'))
  }
  const [both, one] = [runOf('sorted set'), runOf('one writer')]
  assert.deepEqual(columns(both.fleet.boxes, 'writers').split(', ').sort(), ['1', '2,3'])
  assert.equal(columns(one.fleet.boxes, 'writers'), '1')
  // A busy machine may drop some.
  for (const { items } of [both, one])
    assert.deepEqual([items.offered, items.acked + items.dropped], [1800, 1800])
  assertCalls(await callsOf(target, 'setex'), both, one)
  const readers = experiment.rows.find((/** @type {any} */ row) => row.label === 'readers')
  assert.match(
    JSON.stringify([readers, experiment.warnings]),
    /on one box only: its readers are started by one box/,
  )

  const again = await box('again').ended
  assert.equal(again.code, 3, again.stderr)
  assert.match(again.stderr, /--run exp was used before/)
})
