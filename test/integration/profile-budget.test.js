// What a profile takes of a real server, counted by the server and the system beside what the profile says of itself.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseInfo } from '../../lib/wire/info.js'
import { at, ownFolder, startProgram } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

const application = fileURLToPath(new URL('../helpers/application.js', import.meta.url))
const theirs = ['hset', 'hgetall']

/** Seconds of CPU of all threads of a process; null: this system does not say. @param {number} pid */
const cpuOf = (pid) => {
  if (process.platform !== 'linux') return null
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** @param {any} server */
const countersOf = async ({ redis, pid }) => {
  const { commands, fields } = parseInfo(await redis.info('everything'))
  const own = Object.entries(commands).filter(([name]) => !theirs.includes(name))
  const sum = (/** @type {'calls' | 'usec'} */ of) => own.reduce((all, [, one]) => all + one[of], 0)
  return {
    all: Number(fields.total_commands_processed),
    ...{ calls: sum('calls'), us: sum('usec') },
    cpuS: Number(fields.used_cpu_user) + Number(fields.used_cpu_sys),
    procS: cpuOf(pid),
  }
}

const rate = 2500
const seconds = 15
// With few commands it sends so many, and asks so much at the beginning and the end: where the application has no CPU.
const least = 5 * seconds + 60

test('a profile takes less than 1 % of the commands, and reports what it takes of them and of the CPU', async (t) => {
  const server = await startServer(t)
  const child = spawn(process.execPath, [application, 'cart', String(server.port), String(rate)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...at(server) },
  })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  await sleep(1000)
  /** @param {() => Promise<unknown>} work */
  const during = async (work) => {
    const before = await countersOf(server)
    await work()
    const after = await countersOf(server)
    const all = after.all - before.all
    return {
      // The first INFO of this test is counted after it has answered.
      ...{ all, calls: after.calls - before.calls - 1, us: after.us - before.us },
      cpuS: after.cpuS - before.cpuS,
      procUs: before.procS === null ? null : (1e6 * (Number(after.procS) - before.procS)) / all,
    }
  }
  const without = await during(() => sleep(5000))
  assert.equal(without.calls, 0)
  const out = ownFolder(t, 'profile')
  let text = ''
  const withIt = await during(async () => {
    const { code, stdout, stderr } = await startProgram(
      t,
      'lib/cli/millrace.js',
      `profile --duration ${seconds}s --json --out ${out}`,
      { env: at(server), out: false },
    ).ended
    assert.equal(code, 0, stderr)
    text = stdout
  })
  const again = await during(() => sleep(5000))
  const { own, remarks } = JSON.parse(text)
  const share = withIt.calls / withIt.all
  const us = withIt.us / 1e6 / withIt.cpuS
  t.diagnostic(
    `commands ${share}, it reports ${own.commands_share}; CPU of its commands ${us}, it reports ${own.server_cpu_share}; us a command by /proc: ${without.procUs} without, ${withIt.procUs} with, ${again.procUs} without`,
  )
  assert.ok(withIt.calls < Math.max(0.01 * withIt.all, least), `${withIt.calls} of ${withIt.all}`)
  assert.ok(Math.abs(withIt.calls - own.commands) <= 20, `${withIt.calls}, it reports ${own.commands}`)
  // What it reports has its part of reading and sending, too, and is of a shorter time.
  assert.ok(own.server_cpu_share > 0.9 * us, `${own.server_cpu_share}, ${us}`)
  if (own.server_cpu_share > 0.005) assert.match(remarks.join(), /looking took .* of the servers' own CPU/)
})
