// What a profile takes of a real server, counted by the server and the system beside what the profile says of itself.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseInfo } from '../../lib/wire/info.js'
import { runCommand } from '../helpers/command-here.js'
import { at, ownFolder } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { startApplication } from '../helpers/started-application.js'

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
const seconds = 8
// With few commands it sends so many, and asks so much at the beginning and the end: where the application has no CPU.
const least = 5 * seconds + 60

test('a profile takes less than 1 % of the commands, and reports what it takes of them and of the CPU', async (t) => {
  const server = await startServer(t)
  await startApplication(t, 'cart', server, rate)
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
  const without = await during(() => sleep(2000))
  assert.equal(without.calls, 0)
  const out = ownFolder(t, 'profile')
  let text = ''
  const withIt = await during(async () => {
    const line = `profile --duration ${seconds}s --json --out ${out}`
    const { code, stdout, stderr } = await runCommand(t, line, { env: at(server), out: false })
    assert.equal(code, 0, stderr)
    text = stdout
  })
  const { own, remarks } = JSON.parse(text)
  const share = withIt.calls / withIt.all
  const us = withIt.us / 1e6 / withIt.cpuS
  t.diagnostic(
    `commands ${share}, it reports ${own.commands_share}; CPU of its commands ${us}, it reports ${own.server_cpu_share}; us a command by /proc: ${without.procUs} without, ${withIt.procUs} with`,
  )
  assert.ok(withIt.calls < Math.max(0.01 * withIt.all, least), `${withIt.calls} of ${withIt.all}`)
  assert.ok(Math.abs(withIt.calls - own.commands) <= 20, `${withIt.calls}, it reports ${own.commands}`)
  // What it reports has its part of reading and sending, too, and is of a shorter time, in which the application may do more.
  assert.ok(own.server_cpu_share > 0.7 * us, `${own.server_cpu_share}, ${us}`)
  if (own.server_cpu_share > 0.005) assert.match(remarks.join(), /profiling used .* of the servers' own CPU/)
})
