// What is only so on one of the other servers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peer } from '../helpers/peers.js'
import { runProducer } from '../helpers/programs.js'

test('Redis 6.2 takes 524,287 members in one command', async (t) => {
  const bin = peer(t, 'redis-6.2')
  if (!bin) return
  const line = '--strategy actual-value --value-size 8 --max-members 0 --intervals 1 --json'
  const { code, stdout, stderr } = await runProducer(t, `-q 524287 ${line} --server-bin ${bin}`)
  const { items, versions } = JSON.parse(stdout)
  assert.deepEqual(versions.servers, ['6.2.14'])
  assert.equal(items.acked, 524_287, stderr)
  assert.ok(code === 0 || code === 4, stderr)
})

/** @param {string} flag @param {number} most @param {number} members */
const tooMany = (flag, members, most) =>
  new RegExp(
    `^${flag}: a command would have ${members.toLocaleString('en')} members, and on \\S+ \\(6\\.2\\.14\\), which reads 1,048,576 arguments, it may have ${most.toLocaleString('en')} at most; cut it with --max-members, or raise -c\\n$`,
  )

for (const [line, flag, members, most] of /** @type {[string, string, number, number][]} */ ([
  ['-q 524288 --max-members 0', '--max-members 0', 524_288, 524_287],
  ['-q 524286 --ws', '--ws', 524_286, 524_285],
]))
  test(`Redis 6.2 with ${line}: refused with the reason, before anything is written`, async (t) => {
    const bin = peer(t, 'redis-6.2')
    if (!bin) return
    const options = `--intervals 1 --log-level error --server-bin ${bin}`
    const { code, stderr, stdout } = await runProducer(t, `${line} ${options}`)
    assert.equal(code, 2, stderr)
    assert.match(stderr, tooMany(flag, members, most))
    assert.equal(stdout, '')
  })

test('a command that a server lacks is named with the version and what is needed', async (t) => {
  const bin = peer(t, 'redis-6.2')
  if (!bin) return
  const options = `--strategy hash-ttl --log-level error --server-bin ${bin}`
  const { code, stderr } = await runProducer(t, `-q 100 --intervals 1 ${options}`)
  assert.equal(code, 3)
  assert.match(stderr, /^\S+ \(6\.2\.14\).*HSETEX \(Redis 8\.0, Valkey 9\.0\) or HEXPIRE \(Redis 7\.4\)\n$/)
})
