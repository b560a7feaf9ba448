// Whether everything that a run had acknowledged is still there, byte by byte:
//   node producer.js --once --ttl 10m ...   and then   node scripts/verify.js results/<run> [--host ... | --cluster]
import { join } from 'node:path'
import { loadDotenv, readSettings } from '../lib/cli/options.js'
import { concluded } from '../lib/cli/program.js'
import { ExitCode, OptionError, TargetError } from '../lib/errors.js'
import { readPlanOf } from '../lib/plan/read-plan.js'
import { readRunFile } from '../lib/report/record.js'
import { VERIFIABLE } from '../lib/report/schemas.js'
import { count, plainText } from '../lib/report/units.js'
import { checkWritten, contradictionIn, serverTimes } from '../lib/run/check-written.js'
import { faultIn } from '../lib/shape.js'
import { addressOf, endpointOf } from '../lib/target/address.js'
import { findEmbedded } from '../lib/target/embedded.js'
import { openTarget } from '../lib/target/open.js'
import { socketReadDriver } from '../lib/transport/read-socket.js'
import { isStrategy, strategyNamed } from '../lib/workloads/index.js'

/** @typedef {import('../settings.js').ReaderSettings} ReaderSettings */

/** Why it cannot be shown whether all is there; null: it can. @param {any} document */
const reasonAgainst = ({ plan, written }) => {
  if (!plan.once)
    return 'the run was without --once, so nothing can be shown: the same bytes are rewritten every interval and gone after the ttl; run it with --once and a long --ttl'
  if (isStrategy(plan.strategy) && strategyNamed(plan.strategy).check === null)
    return `${plan.strategy} keeps about the newest ${plan.quantity} items only, so the others prove nothing`
  if (!written) return 'it does not say which items were acknowledged; an older Millrace wrote it'
  return null
}

/** @param {string | undefined} folder */
const documentIn = async (folder) => {
  if (folder === undefined)
    throw new OptionError('name the folder of a run: node scripts/verify.js results/<run>')
  const path = folder.endsWith('.json') ? folder : join(folder, 'run.json')
  /** @type {any} */
  const document = await readRunFile(path)
  if (document === null) throw new OptionError(`${path} cannot be read (ENOENT)`)
  if (document.kind !== 'producer') throw new OptionError(`${path} is not the result of a producer`)
  const reason = reasonAgainst(document)
  if (reason) throw new OptionError(`${path}: ${reason}`)
  const fault = faultIn(document, VERIFIABLE) ?? contradictionIn(document)
  if (fault) throw new OptionError(`${path} cannot be verified: ${fault}`)
  return document
}

/** @param {string[]} argv @param {NodeJS.ProcessEnv} env */
const settingsOf = (argv, env) =>
  /** @type {ReaderSettings} */ (
    readSettings({
      program: 'consumer',
      argv,
      env,
      dotenvText: loadDotenv(process.cwd(), env),
    })
  )

/** Embedded servers end with their producer; those that run now must be those of the run. @param {any} document */
const checkAttached = ({ run, target, nodes }) => {
  const isCluster = target?.kind === 'cluster'
  const found = target?.origin === 'attached' ? findEmbedded({ cluster: isCluster }) : null
  const known = new Set(nodes.map((/** @type {{ address: string }} */ { address }) => address))
  if (!found?.nodes.some((node) => known.has(addressOf(node))))
    throw new TargetError(
      `${plainText(run)} wrote to embedded servers, which ended with their producer; let it write to servers that stay (--host), or to those of a producer that still runs`,
    )
}

/** Where to look: the target that is named on the command line, else that of the run, by the node that was away least. @param {any} document @param {string[]} argv @param {NodeJS.ProcessEnv} env */
const placed = (document, argv, env) => {
  const { target, nodes } = document
  if (argv.some((word) => /^--(host|url|port)\b/.test(word))) return settingsOf(argv, env)
  if (target?.origin !== 'address') {
    checkAttached(document)
    const settings = settingsOf(argv, env)
    const given = { ...settings.given, cluster: /** @type {const} */ ('command line') }
    return { ...settings, host: undefined, port: undefined, cluster: target.kind === 'cluster', given }
  }
  const masters = nodes.filter((/** @type {any} */ { role }) => role === 'master')
  const asked = target.kind === 'cluster' || masters.length === 0 ? nodes : masters
  const [{ address }] = [...asked].sort((a, b) => a.gaps - b.gaps)
  const { host, port } = endpointOf(address)
  const settings = settingsOf(['--host', host, '--port', String(port), ...argv], env)
  return { ...settings, cluster: target.kind === 'cluster' }
}

/** @param {import('../lib/run/check-written.js').Checked} checked @param {any} document */
const words = ({ acked, present, lost, examples, ...bad }, { run, written }) => {
  const found = Object.entries(bad).filter(([, n]) => n > 0)
  const lines = [
    `${plainText(run)}: ${count(acked)} items acknowledged, ${count(present)} there byte by byte` +
      (lost > 0 ? `, ${count(lost)} lost` : '') +
      (found.length > 0 ? `; ${found.map(([what, n]) => `${count(n)} ${what}`).join(', ')}` : ''),
    ...examples.map((example) => `  ${plainText(example)}`),
  ]
  if (!written.complete)
    lines.push(
      '  the result holds not all ranges that were not acknowledged: some of what is missing may be theirs',
    )
  if (bad.expired > 0)
    lines.push('  expired: their ttl was over, so nothing can be said of them; set a longer --ttl')
  return lines.join('\n')
}

/** @param {any} document @param {ReaderSettings} settings */
const checkedIn = async (document, settings) => {
  const { plan, written } = document
  const target = await openTarget(settings, { say: () => {}, mayStart: false })
  try {
    const readPlan = readPlanOf(
      { ...settings, reads: 'master', mode: 'manual', fetch: 'get', verify: false, driver: 'socket' },
      {
        card: { ...plan, startedMs: 0, renewedMs: 0, ended: true },
        agents: [1],
        cluster: target.kind === 'cluster',
        masters: target.topology.masters.length,
      },
    )
    const driver = await socketReadDriver({
      plan: readPlan,
      target,
      clock: () => performance.now(),
      random: Math.random,
      onEvent: () => {},
    })
    const times = await serverTimes(document, {
      servers: driver.servers(),
      time: async (address) => /** @type {any} */ (await target.control(address).time()),
      epochMs: Date.now,
    })
    const checked = await checkWritten({ plan, written, ...times, driver })
    driver.close()
    return checked
  } finally {
    await target.close()
  }
}

const usage = `Verifies that everything a run had acknowledged is still there, byte by byte.

Usage: node scripts/verify.js RESULTS [--json] [options of the target, as for consumer.js]

RESULTS is the folder of a producer's run with --once and a long --ttl; put it before options with values.
Without --host or --url it reads where the run wrote; give the password in REDIS_PASSWORD. Local servers end with
their producer, so nothing is left to verify. Exit code 4: something acknowledged is missing or has changed.`

await concluded(async ({ env }) => {
  const argv = process.argv.slice(2)
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(`${usage}\n`)
    return ExitCode.done
  }
  const at = argv.findIndex((word) => !word.startsWith('-'))
  const document = await documentIn(argv[at])
  const settings = placed(document, argv.toSpliced(at, 1), env)
  const checked = await checkedIn(document, settings)
  if (settings.json) process.stdout.write(`${JSON.stringify(checked, null, 2)}\n`)
  else process.stdout.write(`${words(checked, document)}\n`)
  const { lost, expired, acked } = checked
  const isProven = lost + expired === 0 && acked > 0 && document.written.complete
  return isProven ? ExitCode.done : ExitCode.invalid
})
