import assert from 'node:assert/strict'
import test from 'node:test'
import { asker, newestLayout, viewOf, withOldShards } from '../../lib/servers/topology-source.js'

/** Ranges as '0-99 a, 100-16383 b c': slots, their master and its replicas. @param {string} ranges @param {Record<string, number>} epochs of a, b, c ... */
const view = (ranges, epochs) => {
  const hostOf = (/** @type {string} */ name) => `10.0.0.${name.charCodeAt(0) - 96}`
  const slots = ranges.split(', ').map((range) => {
    const [fromTo, ...names] = range.split(' ')
    return [...fromTo.split('-').map(Number), ...names.map((name) => [hostOf(name), 7000, name])]
  })
  const nodes = Object.entries(epochs).map(
    ([name, epoch]) => `${name} ${hostOf(name)}:7000@17000 master - 0 0 ${epoch} connected`,
  )
  return viewOf(slots, nodes.join('\n'), '10.0.0.9')
}

/** @param {ReturnType<typeof newestLayout>} layout @param {number[]} slots */
const ownersIn = ({ masters, owners }, ...slots) =>
  slots.map((slot) => masters[/** @type {Uint16Array} */ (owners)[slot]]).join(' ')

const old = view('0-8191 a, 8192-16383 b c', { a: 1, b: 2, c: 2 })

for (const turn of ['first', 'last'])
  test(`a stale view changes nothing, asked ${turn}`, () => {
    const newest = (/** @type {typeof old} */ one) => newestLayout(turn === 'first' ? [old, one] : [one, old])
    // Slot 100 has gone to b, which took a new epoch for it; c took over from b in another view.
    const layout = newest(view('0-99 a, 100-100 b, 101-8191 a, 8192-16383 b c', { a: 1, b: 5 }))
    assert.equal(ownersIn(layout, 99, 100), '10.0.0.1:7000 10.0.0.2:7000')
    assert.equal(ownersIn(layout, 101, 8192), '10.0.0.1:7000 10.0.0.2:7000')
    assert.equal(layout.epoch, 5)
    const after = newest(view('0-8191 a, 8192-16383 c', { a: 1, b: 2, c: 6 }))
    assert.equal(ownersIn(after, 9000), '10.0.0.3:7000')
  })

for (const turn of ['first', 'last'])
  test(`a replica that a node has not heard of yet is in the map, asked ${turn}`, () => {
    const epochs = { a: 1, b: 2 }
    const knows = view('0-8191 a d, 8192-16383 b c', epochs)
    const knowsMore = view('0-8191 a d, 8192-16383 b c e', epochs)
    const stale = view('0-8191 a, 8192-16383 b f', { a: 1, b: 0 })
    const unheard = view('0-8191 a c, 8192-16383 b', epochs)
    const views = [unheard, knows, knowsMore, stale]
    const { nodes } = newestLayout(turn === 'first' ? views : views.reverse())
    const replicas = nodes.filter(({ role }) => role === 'replica').map(({ host }) => host)
    // One whose claim is old names none, and one that two masters have is one of them.
    assert.deepEqual(replicas.sort(), ['10.0.0.3', '10.0.0.4', '10.0.0.5'])
  })

test('without epochs the first answer counts, and others fill what it lacks', () => {
  const first = viewOf([[0, 99, ['h1', 1, 'x']]], '', 'asked')
  const second = viewOf([[0, 16383, ['', 2, 'y']]], '', 'asked')
  assert.equal(ownersIn(newestLayout([first, second]), 0, 99, 100), 'h1:1 h1:1 asked:2')
})

test('a slot that nobody claims stays without an owner', () => {
  const layout = newestLayout([viewOf([[0, 5, ['h', 1, 'x']]], '', 'h')])
  assert.equal(layout.owners?.[6], 65_535)
})

test('shards keep their numbers while slots move and roles change', () => {
  const before = newestLayout([old])
  const after = newestLayout([view('0-50 d, 51-99 c b, 100-16383 a', { a: 1, c: 7, d: 8 })])
  const shards = Object.fromEntries(withOldShards(before, after).nodes.map((node) => [node.host, node.shard]))
  assert.deepEqual(shards, { '10.0.0.1': 1, '10.0.0.3': 2, '10.0.0.2': 2, '10.0.0.4': 3 })
})

test('a node that is away holds up nobody, and is not asked again meanwhile', async () => {
  const asked = /** @type {string[]} */ ([])
  let answer = (/** @type {string} */ _) => {}
  const ask = asker((address) => {
    asked.push(address)
    return address === 'away' ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(address)
  })
  assert.deepEqual(await ask(['away', 'here']), ['here'])
  assert.deepEqual(await ask(['away', 'here']), ['here'])
  assert.deepEqual(asked, ['away', 'here', 'here'])
  answer('back')
  assert.deepEqual((await ask(['away'])).length, 1)
})

test('when nobody answers, that is an error with its cause', async () => {
  const ask = asker(() => Promise.reject(new Error('no')))
  await assert.rejects(ask(['a:1', 'b:2']), /no node reports the topology: a:1: no$/)
  const refusal = "NOPERM this user has no permissions to run the 'cluster|slots' command"
  const expected = /a:1: the user lacks rights; extend its ACL \(NOPERM .* 'cluster\|slots' command\)$/
  await assert.rejects(asker(() => Promise.reject(new Error(refusal)))(['a:1']), expected)
})

for (const [what, slots] of /** @type {[string, unknown][]} */ ([
  ['a range without an end', [[0, 9e15, ['h', 1, 'x']]]],
  ['a range that is none', [[0, 'x', ['h', 1, 'x']]]],
  ['a node that is none', [[0, 5, null]]],
  ['no list', 'OK'],
]))
  test(`CLUSTER SLOTS: ${what} makes no sense`, () =>
    assert.throws(() => viewOf(slots, '', 'h'), /h: its answer to CLUSTER SLOTS makes no sense/))
