// Lookups as a user starts them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDone, at, outcomesOf, runProducer, startProgram } from '../helpers/programs.js'
import { callsOf, cli, startServer } from '../helpers/servers.js'

const lookup = (/** @type {string} */ strategy) => `--strategy ${strategy} --keys 3000 --value-size 40`

test('filled, looked up, counted by the server too, and cleaned up', async (t) => {
  const server = await startServer(t)
  const env = at(server)
  const get = await runProducer(
    t,
    `${lookup('lookup-get')} --fill --connections 8 --pipeline 4 --duration 2s --prefix p:`,
    { env },
  )
  assertDone(get)
  const { items, counts, rate, plan } = get.document
  assert.equal(items.acked, items.offered)
  assert.equal(outcomesOf(items), items.offered)
  assert.deepEqual(counts, { hit: items.acked, miss: 0 })
  assert.equal(rate.nominal, null)
  assert.equal(plan.flow, 'clients')
  // The fill's sample is a hundred GETs more.
  assert.equal(await callsOf(server, 'get'), items.acked + 100)
  // And a lease is one SET more.
  assert.equal(await callsOf(server, 'set'), 3001)
  assert.match(get.stdout, /hit [\d,]+ · miss 0/)
  assert.match(get.stderr, /filled 3,000 keys/)

  // The keys are known: another strategy of the workload goes over them, at an open rate.
  const mix = await runProducer(
    t,
    `${lookup('lookup-mix')} --ratio 1:1 --rate 500 --connections 8 --duration 2s --prefix p:`,
    { env },
  )
  assertDone(mix)
  assert.equal(mix.document.items.offered, 1000)
  assert.equal(mix.document.rate.nominal, 500)

  const missing = await runProducer(t, `${lookup('lookup-get')} --duration 1s --prefix none:`, { env })
  assertDone(missing)
  assert.equal(missing.document.counts.hit, 0)

  await startProgram(t, 'scripts/cleanup.js', '--prefix p: --yes', { env, out: false }).ended
  assert.equal(await cli(server, 'KEYS', 'p:*'), '')
})

test('what does not belong to lookups, or only to them, is refused by name', async (t) => {
  for (const [line, pattern] of /** @type {[string, RegExp][]} */ ([
    ['--strategy lookup-get -c 5', /^--chunks is not an option of lookup-get/],
    ['--strategy lookup-get --ratio 1:2', /^--ratio is not an option of lookup-get/],
    ['--strategy lookup-get --driver ioredis', /^--driver ioredis: lookup-get runs on plain sockets only/],
    ['--strategy lookup-mix --ratio 0:0', /^--ratio must be writes:reads/],
    ['--strategy lookup-get --arrivals poisson', /^--arrivals poisson needs --rate with a number/],
    ['--strategy lookup-get --rate fast', /^--rate must be max or a number/],
    ['--fill', /^--fill is an option of lookups/],
    ['--rate 500 -p 5', /^--rate and --period exclude each other/],
  ])) {
    const { code, stderr } = await runProducer(t, line)
    assert.equal(code, 2, line)
    assert.match(stderr, pattern)
  }
  const server = await startServer(t)
  const consumer = await startProgram(t, 'consumer.js', '--strategy lookup-get --duration 1s', {
    env: at(server),
  }).ended
  assert.equal(consumer.code, 2, consumer.stderr)
  assert.match(consumer.stderr, /--strategy lookup-get: a consumer fetches items/)
})

test('a fill that does not fit ends with its cause, and misses after a fill are no valid run', async (t) => {
  const server = await startServer(t, { config: { maxmemory: '3mb' } })
  const full = await runProducer(
    t,
    '--strategy lookup-get --keys 20k --value-size 500 --fill --duration 1s --allow memory --guard off',
    { env: at(server) },
  )
  assert.equal(full.code, 3, full.stderr)
  assert.match(full.stderr, /--fill: [\d,]+ of 20,000 keys were written \(OOM [\d,]+\)/)

  const other = await startServer(t)
  const run = startProgram(t, 'producer.js', `${lookup('lookup-get')} --fill --duration 3s --connections 2`, {
    env: at(other),
  })
  await run.says(/filled 3,000 keys/)
  await cli(other, 'DEL', ...Array.from({ length: 500 }, (_, i) => `key:${i + 1}`))
  const { code, document } = await run.ended
  assert.equal(code, 4)
  assert.ok(document.counts.miss > 0)
  assert.ok(document.warnings.some((/** @type {any} */ { code: why }) => why === 'replies'))
})
