// Applications that know nothing of it are profiled, and what is replayed has the same profile. Shares, keys, bytes and
// memory are compared, which do not depend on how busy the machine is.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { at, ownFolder, startProgram, until } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'

const application = fileURLToPath(new URL('../helpers/application.js', import.meta.url))

/** @param {import('node:test').TestContext} t @param {string} name @param {any} server */
const startApplication = async (t, name, server) => {
  const child = spawn(process.execPath, [application, name, String(server.port), '2000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...at(server) },
  })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  return child
}

/** @param {import('node:test').TestContext} t @param {any} server @param {string} [more] */
const profiled = async (t, server, more = '') => {
  const out = ownFolder(t, 'profile')
  const line = `profile --duration 5s --budget 50% --json --out ${out} ${more}`
  const { code, stdout, stderr } = await startProgram(t, 'lib/cli/millrace.js', line, {
    env: at(server),
    out: false,
  }).ended
  assert.equal(code, 0, stderr)
  const [folder] = readdirSync(out)
  return { profile: JSON.parse(stdout), folder: join(out, folder) }
}

/** Shares of the commands about data, and bytes of a command. @param {any} profile */
const figuresOf = ({ commands, patterns, bytes_out_per_s: out }) => {
  const data = commands.filter((/** @type {any} */ one) => one.is_data)
  const perS = data.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.per_s, 0)
  return {
    shares: Object.fromEntries(data.map((/** @type {any} */ one) => [one.name, one.per_s / perS])),
    bytesOut: out / perS,
    pattern: patterns.find((/** @type {any} */ { pattern }) => !pattern.startsWith('millrace')),
  }
}

for (const [name, command] of [
  ['page-cache', 'get'],
  ['cart', 'hgetall'],
])
  test(`the profile of a replayed ${name} is that of the application`, async (t) => {
    const server = await startServer(t)
    const child = await startApplication(t, name, server)
    const original = await profiled(t, server)
    child.kill()
    const other = await startServer(t)
    const replay = startProgram(
      t,
      'lib/cli/millrace.js',
      `replay ${join(original.folder, 'workload.yaml')} --duration 10m --idle-cost never`,
      { env: at(other) },
    )
    // The load has begun, after the fill.
    await until('the load', async () => {
      const calls = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(
        await cli(other, 'INFO', 'commandstats'),
      )
      return Number(calls?.[1]) > 1000
    })
    const replayed = await profiled(t, other)
    replay.kill('SIGINT')
    await replay.ended
    const [a, b] = [figuresOf(original.profile), figuresOf(replayed.profile)]
    for (const [one, share] of Object.entries(a.shares))
      assert.ok(Math.abs(share - (b.shares[one] ?? 0)) < 0.02, `${one}: ${share} and ${b.shares[one]}`)
    assert.ok(
      Math.abs(b.pattern.memory_of_key.value / a.pattern.memory_of_key.value - 1) < 0.1,
      JSON.stringify([a, b]),
    )
    assert.ok(Math.abs(b.pattern.size.value / a.pattern.size.value - 1) < 0.1, JSON.stringify([a, b]))
    assert.equal(b.pattern.type, a.pattern.type)
    // Where sizes go with popularity, the profile has said so.
    const said = original.profile.workload.reply_bytes
    assert.ok(Math.abs(b.bytesOut / a.bytesOut / said - 1) < 0.15, JSON.stringify([said, a, b]))
  })

test('a hostile keyspace is shown as text, no value is read, and nothing is asked that looks at all keys', async (t) => {
  const server = await startServer(t)
  await cli(
    server,
    'EVAL',
    "redis.call('SET', '\\27[31mred\\0\\255', 'secret') for i = 1, 300 do redis.call('SET', 'u:' .. string.char(97 + i % 26, 97 + i / 26) .. ':x', 'secret') end",
    '0',
  )
  await cli(server, 'SETRANGE', 'huge', String(2 ** 26), 'x')
  const { profile, folder } = await profiled(t, server)
  assert.equal(profile.keys, 302)
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
  for (const text of files) {
    assert.doesNotMatch(text, /secret/)
    assert.ok(![...text].some((letter) => letter === '\x1b' || letter === '\0'))
  }
  const asked = await cli(server, 'INFO', 'commandstats')
  assert.doesNotMatch(asked, /cmdstat_(keys|monitor|get|config\|get|dump|getrange|hgetall):/)
  assert.ok(profile.own.cpu_share < 0.05)
})
