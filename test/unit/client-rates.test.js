// What docs/studies/clients.md says of the highest rate of each client, from find.json.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientRatesPart, rateOfProcess, searchData } from '../../scripts/readme/client-rates.js'
import { clientsMemoryPart } from '../../scripts/readme/clients.js'
import { ownFolder } from '../helpers/programs.js'

const curve = [
  { rate: 40_000, low: 0.95, middle: 0.99, high: 0.999 },
  { rate: 44_000, low: 0.85, middle: 0.95, high: 0.98 },
  { rate: 48_000, low: 0.5, middle: 0.7, high: 0.95 },
  { rate: 52_000, low: 0.2, middle: 0.3, high: 0.85 },
]
const find = {
  ...{ kind: 'find', command_line: 'millrace find sorted-set --driver ioredis --out /tmp/x --time 60s' },
  ...{ versions: { millrace: '0.1.0', node: '20.20.2', servers: ['7.0.15'] }, share: 0.9, curve },
  ...{ state: 'at-least', find: { low: 42_000, middle: 45_000, high: null } },
  limit: { part: 'client', value: 96, words: '' },
  confirmed: { rate: 42_000, passed: 28, seconds: 30 },
  ...{ confirmation: { client: { thread_cpu_pct: 96 } }, seconds: [{}], path: [{}] },
}

test('where the client was the limit, the upper end is where the band comes to the share of the seconds', () => {
  const found = { low: 1000.4, middle: 1100, high: 1200 }
  const none = { low: null, middle: null, high: null }
  for (const [other, words] of /** @type {[object, string][]} */ ([
    [{}, '45,000 (42,000 to 49,960)'],
    [{ curve: [] }, 'at least 42,000'],
    [{ state: 'found', find: found }, '1,100 (1,000 to 1,200)'],
    [{ state: 'unsteady', find: { low: 10, middle: 20, high: 30 } }, '20 (10 to 30), not steady'],
    [{ state: 'none', find: none }, 'none'],
  ]))
    assert.equal(rateOfProcess(/** @type {any} */ ({ ...find, ...other })), words)
})

test('a row for each driver that was searched, in the order of the other tables; without data it is said', (t) => {
  const folder = ownFolder(t, 'rates')
  assert.equal(clientRatesPart(folder), 'These searches were not measured yet.')
  const sockets = { ...find, command_line: 'millrace find sorted-set', confirmed: null, limit: null }
  for (const search of [find, sockets])
    for (const [name, text] of Object.entries(searchData(search))) {
      assert.ok(!text.includes('"seconds":[') && !text.includes('"path":') && !text.includes('/tmp'), name)
      writeFileSync(join(folder, name), text)
    }
  const [, , socket, ioredis] = clientRatesPart(folder).split('\n')
  assert.match(socket, /^\| plain sockets \| 45,000 \(42,000 to 49,960\) \| – \| 96.0 % \| – \|$/)
  const row =
    /^\| ioredis \d+\.\d+\.\d+ \| 45,000 .* \| 42,000 in 28 of 30 s \| 96.0 % \| the sending thread \|$/
  assert.match(ioredis, row)
})

test('memory of a million in flight is a mean with its interval, of the rounds that had a result', (t) => {
  const file = join(ownFolder(t, 'memory'), 'memory.ndjson')
  const line = (/** @type {object} */ more) =>
    JSON.stringify({ client: 'ioredis', gcMs: 500, stillS: 40, limitS: 100, items: { acked: 1000 }, ...more })
  const lines = [line({ rssMb: 900 }), line({ rssMb: 1100, items: { acked: 10 } }), line({ crashed: 'heap' })]
  writeFileSync(file, `${[...lines, line({ client: 'iovalkey', crashed: 'heap' })].join('\n')}\n`)
  const [titles, , ioredis, iovalkey] = clientsMemoryPart(file).split('\n')
  assert.match(titles, /acknowledged within 100 s/)
  const limits = '10 to 1,000, crashed: 1 of 3'
  assert.equal(ioredis, `| ioredis | 995 MB (278 MB to 3.56 GB) | 500 ms | 40.0 s | ${limits} |`)
  assert.equal(iovalkey, '| iovalkey | – | – | – | 0, crashed: 1 |')
})
