// `millrace doctor`: what this machine and a target offer, and what a run would be refused for.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, freemem, loadavg, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { optionsOf } from '../../../settings.js'
import { ExitCode, TargetError } from '../../base/errors.js'
import { twoColumns } from '../../base/layout.js'
import { pair } from '../../base/typed.js'
import { bytes, micros, several } from '../../base/units.js'
import { millraceVersion } from '../../base/version.js'
import { findServerBinary } from '../../servers/embedded-binary.js'
import { otherVersions, peerPath, peers } from '../../servers/peers.js'
import { asTargetError } from '../../servers/reason.js'
import { strategyNames } from '../../workloads/index.js'
import { printData } from '../answer.js'
import { lookedAt } from '../dry-run.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { Command } from '../commands.js'
 */

// Of --connections 50 to each node of a 3 + 3 cluster, and files.
const fewFiles = 1024
const timerSamples = 40
const timerMs = 5

/** @typedef {{ what: string, found: string, advice?: string }} Finding */

/** How late a timer of 5 ms fires, as the pacing of a writer would see it. */
const timerLatenessUs = async () => {
  const lateness = []
  for (let i = 0; i < timerSamples; i++) {
    const startMs = performance.now()
    await sleep(timerMs)
    lateness.push((performance.now() - startMs - timerMs) * 1000)
  }
  return Math.max(0, lateness.sort((a, b) => a - b)[Math.floor(timerSamples * 0.9)])
}

/** @returns {Finding[]} */
const clockSource = () => {
  const path = '/sys/devices/system/clocksource/clocksource0/current_clocksource'
  if (!existsSync(path)) return []
  const source = readFileSync(path, 'utf8').trim()
  const isSlow = !/tsc|kvm-clock|arch_sys_counter|hyperv/.test(source)
  return [
    {
      what: 'clock source',
      found: source,
      ...(isSlow && { advice: 'reading it is slow: latencies cost CPU' }),
    },
  ]
}

/** @returns {Finding} */
const openFiles = () => {
  const { stdout = '' } = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })
  const most = stdout.trim()
  const isLow = Number(most) < fewFiles
  return {
    what: 'open files',
    found: `${most} (ulimit -n)`,
    ...(isLow && { advice: `ulimit -n ${fewFiles * 8}` }),
  }
}

/** @returns {Promise<Finding[]>} */
const machine = async () => {
  const cores = availableParallelism()
  const [load] = loadavg()
  const lateUs = await timerLatenessUs()
  return [
    { what: 'millrace', found: `${millraceVersion()}, node ${process.versions.node}, ${process.platform}` },
    {
      what: 'cores',
      found: `${cores} x ${cpus()[0]?.model ?? 'unknown'}, load ${load.toFixed(1)}`,
      ...(load > cores / 2 && { advice: 'other programs run here: results will vary' }),
    },
    { what: 'memory', found: `${bytes(freemem())} free of ${bytes(totalmem())}` },
    openFiles(),
    ...clockSource(),
    {
      what: 'timers',
      found: `90 % of ${timerMs} ms timers are at most ${micros(lateUs)} late`,
      ...(lateUs > timerMs * 1000 && { advice: 'even spacing needs a calmer machine' }),
    },
  ]
}

/** @param {string | undefined} serverBin @returns {Finding} */
const serverOfPath = (serverBin) => {
  try {
    const { name, version, file } = findServerBinary(serverBin)
    // redis-tools of Debian has the server under this name alone.
    const as = file.endsWith('check-rdb') ? ' (it is also the server)' : ''
    return { what: 'local server', found: `${name} ${version}, ${file}${as}` }
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    return { what: 'local server', found: 'none', advice: error.message }
  }
}

/** @param {NodeJS.ProcessEnv} env @returns {Finding[]} */
const otherServers = (env) => {
  const there = [...peers, ...otherVersions].filter((peer) => existsSync(peerPath(peer, env)))
  return there.map((peer) => ({ what: peer.name, found: `${peer.version}, ${peerPath(peer, env)}` }))
}

/** @param {Finding[]} findings @param {number} columns */
const textOf = (findings, columns) => {
  const rows = findings.flatMap(({ what, found, advice }) => [
    pair(what, found),
    ...(advice === undefined ? [] : [pair('', `! ${advice}`)]),
  ])
  return twoColumns(rows, columns).join('\n')
}

/** A target that cannot be used at all. @param {unknown} error */
const unusable = (error) => {
  const known = asTargetError(error)
  if (!(known instanceof TargetError)) throw error
  /** @type {Finding[]} */
  const findings = [{ what: 'target', found: 'cannot be used', advice: known.message }]
  return { findings, refused: true }
}

/** What a run would meet there. @param {Settings} settings @param {AbortSignal} stop */
const targetFindings = async (settings, stop) => {
  const { lines, warnings, refusal, leases, target } = await lookedAt(settings, { stop })
  /** @type {Finding[]} */
  const findings = [
    { what: 'target', found: `${target.kind} on ${target.address}, version ${target.versions.join(', ')}` },
    ...lines.map((found) => ({ what: '', found })),
    ...warnings.map((advice) => ({ what: '', found: 'warning', advice })),
    { what: 'writers', found: `${several(leases, 'writer')} at work there` },
    refusal === null
      ? { what: 'a run', found: 'would start with these options' }
      : { what: 'a run', found: 'would be refused', advice: refusal },
  ]
  return { findings, refused: refusal !== null }
}

const json = 'print what was found as JSON, and nothing else'
const shown = ['host', 'port', 'url', 'cluster', 'tls', 'ask-password', 'json']

/** @type {Command} */
export const command = {
  about: {
    does: 'Shows what this machine offers, which servers are found, and, with an address, what a run on that target would be refused for. It writes nothing.',
    examples: [
      ['this machine', ''],
      ['a target, for a plan', '--host cache.example.net --tls --cluster -q 300000 -t 8'],
    ],
    more: `Other options are those of millrace write. Data models: ${strategyNames().join(', ')}.`,
  },
  options: optionsOf('producer').map((option) => ({
    ...option,
    brief: shown.includes(option.name) ? option.brief : undefined,
    ...(option.name === 'json' && { help: json, brief: json }),
  })),
  work: async ({ settings: given, redact, env }) => {
    const settings = await withPassword(given, redact)
    const { stop } = interruptsOfRun()
    const here = [...(await machine()), serverOfPath(settings.serverBin), ...otherServers(env)]
    const there =
      settings.host === undefined
        ? { findings: [], refused: false }
        : await targetFindings(settings, stop).catch(unusable)
    const findings = [...here, ...there.findings]
    printData(settings.json, findings, () => `${textOf(findings, process.stdout.columns ?? 100)}\n`)
    return there.refused ? ExitCode.target : ExitCode.done
  },
}
