// What is only so on one of the other servers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeHere } from '../helpers/here.js'
import { peer } from '../helpers/peers.js'

test('Redis 6.2 takes 524,287 members in one command', async (t) => {
  const bin = peer(t, 'redis-6.2')
  if (!bin) return
  const line = '--strategy actual-value --value-size 8 --max-members 0 --intervals 1 --max-behind 60s'
  const { code, document, stderr } = await writeHere(t, `-q 524287 ${line} --server-bin ${bin}`)
  assert.deepEqual(document.versions.servers, ['6.2.14'])
  assert.equal(document.items.acked, 524_287, stderr)
  assert.ok(code === 0 || code === 4, stderr)
})

/** @param {string} flag @param {number} most @param {number} members */
const tooMany = (flag, members, most) =>
  new RegExp(
    `^${flag}: a command would have ${members.toLocaleString('en')} members, and on \\S+ \\(6\\.2\\.14\\), which reads 1,048,576 arguments, it may have ${most.toLocaleString('en')} at most; cut it with --max-members, or raise -c$`,
  )

for (const [line, flag, members, most] of /** @type {[string, string, number, number][]} */ ([
  ['-q 524288 --max-members 0', '--max-members 0', 524_288, 524_287],
  ['-q 524286 --ws', '--ws', 524_286, 524_285],
]))
  test(`Redis 6.2 with ${line}: refused with the reason, before anything is written`, async (t) => {
    const bin = peer(t, 'redis-6.2')
    if (!bin) return
    const { code, refusal, document } = await writeHere(t, `${line} --intervals 1 --server-bin ${bin}`)
    assert.equal(code, 2, refusal)
    assert.match(refusal, tooMany(flag, members, most))
    assert.equal(document, undefined)
  })

test('a command that a server lacks is named with the version and what is needed', async (t) => {
  const bin = peer(t, 'redis-6.2')
  if (!bin) return
  const { code, refusal } = await writeHere(t, `-q 100 --intervals 1 --strategy hash-ttl --server-bin ${bin}`)
  assert.equal(code, 3)
  assert.match(refusal, /^\S+ \(6\.2\.14\).*HSETEX \(Redis 8\.0, Valkey 9\.0\) or HEXPIRE \(Redis 7\.4\)$/)
})
