// A cluster in which masters are dead when a run, or a look at it, begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { at } from '../helpers/programs.js'
import { startCluster } from '../helpers/servers.js'

test('a run and doctor say which masters do not answer and how many slots that leaves', async (t) => {
  const { nodes, access } = await startCluster(t, { replicas: 0 })
  const [alive, ...others] = nodes
  const dead = others.filter(({ role }) => role === 'master')
  for (const { pid } of dead) process.kill(pid, 'SIGKILL')
  const env = { ...at({ ...alive, ...access }), REDIS_CLUSTER: 'true' }
  const names = dead.map(({ host, port }) => `${host}:${port}`)
  /** @param {string} text */
  const assertNamed = (text) => {
    const line = text.replaceAll(/\s+/g, ' ')
    assert.match(line, /2 of 3 masters do not answer, so 10,92[23] of 16,384 slots have no master: /)
    for (const name of names) assert.ok(line.includes(name), text)
    assert.doesNotMatch(line, /maxRetriesPerRequest/)
  }
  const run = await runCommand(t, 'write -q 100 --duration 1s', { env })
  assert.equal(run.code, 3)
  assertNamed(run.stderr)
  const doctor = await runCommand(t, 'doctor', { env, out: false })
  assert.equal(doctor.code, 3)
  assertNamed(doctor.stdout)
  assert.match(doctor.stdout, /^ +cores +\d/m)
})
