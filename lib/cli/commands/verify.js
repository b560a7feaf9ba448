// `millrace verify`: whether everything that a run had acknowledged is still there, byte by byte.
import { join } from 'node:path'
import { optionsOf } from '../../../settings.js'
import { ExitCode, OptionError, TargetError } from '../../base/errors.js'
import { faultIn } from '../../base/json-schema.js'
import { machineWith } from '../../base/timers.js'
import { exactly } from '../../base/typed.js'
import { count, plainText } from '../../base/units.js'
import { readPlanOf } from '../../loads/fetches/plan.js'
import { refuseWords } from '../../options/command-line.js'
import { readRunFile, VERIFIABLE } from '../../result/record.js'
import { checkWritten, contradictionIn, serverTimes } from '../../run/check-written.js'
import { addressOf, endpointOf } from '../../servers/address.js'
import { findEmbedded } from '../../servers/embedded.js'
import { openTarget } from '../../servers/open.js'
import { socketReadDriver } from '../../transport/socket-reader.js'
import { isStrategy, strategyNamed } from '../../workloads/index.js'
import { printData } from '../answer.js'
import { withPassword } from '../password.js'

/**
 * @import { Option, ReaderSettings } from '../../../settings.js'
 * @import { Typed } from '../../options/command-line.js'
 * @import { Checked } from '../../run/check-written.js'
 * @import { Command } from '../commands.js'
 * @import { Run } from '../../measures/section.js'
 */

/** Why it cannot be decided whether everything is there; null: it can. @param {Run} document */
const reasonAgainst = ({ plan, written }) => {
  if (!plan.once)
    return 'the run was without --once, so nothing can be shown: the same bytes are rewritten every interval and gone after the ttl; run it with --once and a long --ttl'
  const unchecked = isStrategy(plan.strategy) && strategyNamed(plan.strategy).check === null
  if (unchecked && plan.model)
    return `the model ${plan.strategy} does not say how it is read: add read: (YAML) or fetch and check (JavaScript)`
  if (unchecked)
    return `${plan.strategy} keeps about the newest ${plan.quantity} items only, so the others prove nothing`
  if (!written) return 'it does not say which items were acknowledged'
  return null
}

/** @param {string} folder */
const fileIn = (folder) => (folder.endsWith('.json') ? folder : join(folder, 'run.json'))

/** @param {string | undefined} folder */
const documentIn = async (folder) => {
  if (folder === undefined) throw new OptionError('name the folder of a run: millrace verify results/<run>')
  const path = fileIn(folder)
  /** @type {Run | null} */
  const document = await readRunFile(path)
  if (document === null) throw new OptionError(`${path} cannot be read (ENOENT)`)
  if (document.kind !== 'producer') throw new OptionError(`${path} is not the result of a producer`)
  const reason = reasonAgainst(document)
  if (reason) throw new OptionError(`${path}: ${reason}`)
  const fault = faultIn(document, VERIFIABLE)
  if (fault) throw new OptionError(`${path} cannot be verified: ${fault}`)
  return document
}

/** Refuses contradictions that are known only with the run's model. @param {string} folder @param {Run} document */
const refuseContradictions = (folder, document) => {
  const fault = contradictionIn(document)
  if (fault) throw new OptionError(`${fileIn(folder)} cannot be verified: ${fault}`)
}

/** Embedded servers end with their producer; those that run now must be those of the run. @param {Run} document */
const checkAttached = ({ run, target, nodes }) => {
  const isCluster = target?.kind === 'cluster'
  const found = target?.origin === 'attached' ? findEmbedded({ cluster: isCluster }) : null
  const known = new Set(nodes.map((/** @type {{ address: string }} */ { address }) => address))
  if (!found?.nodes.some((node) => known.has(addressOf(node))))
    throw new TargetError(
      `${plainText(run)} wrote to local servers, which ended with their producer; let it write to servers that stay (--host), or to those of a producer that still runs`,
    )
}

const namesOfAddress = exactly(['host', 'url', 'port'])

/**
 * Without an address it looks where the run wrote, at the node that was away least. The options are not read yet, so the
 * model of the run may not be known.
 * @param {Typed} typed
 */
const placed = async (typed) => {
  const [folder] = typed.words
  if (folder === undefined || namesOfAddress.some((name) => typed.options.has(name))) return typed
  const document = await documentIn(folder)
  if (document.target?.origin !== 'address') return typed
  const { target, nodes } = document
  const masters = nodes.filter((/** @type {{ role: string }} */ { role }) => role === 'master')
  const among = target.kind === 'cluster' || masters.length === 0 ? nodes : masters
  const [{ address }] = [...among].sort((a, b) => a.gaps - b.gaps)
  const { host, port } = endpointOf(address)
  const named = { host, port: String(port), ...(target.kind === 'cluster' && { cluster: 'true' }) }
  return { ...typed, options: new Map([...typed.options, ...Object.entries(named)]) }
}

/**
 * The servers of a run that were started for it are found as a consumer finds them.
 * @param {Run} document
 * @param {ReaderSettings} settings
 * @returns {ReaderSettings}
 */
const attached = (document, settings) => {
  if (namesOfAddress.some((name) => settings.given[name] === 'command line')) return settings
  checkAttached(document)
  const given = { ...settings.given, cluster: exactly('command line') }
  const cluster = document.target.kind === 'cluster'
  return { ...settings, host: undefined, port: undefined, cluster, given }
}

/** @param {Checked} checked @param {Run} document */
const sentencesOf = (
  { acked, present, lost, examples, not_checked: unchecked, ...bad },
  { run, written },
) => {
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
  lines.push(...unchecked.map((what) => `  not checked: ${plainText(what)}`))
  if (bad.expired > 0)
    lines.push('  expired: their ttl was over, so nothing can be said of them; set a longer --ttl')
  return lines.join('\n')
}

/** @param {Run} document @param {ReaderSettings} settings */
const checkedIn = async (document, settings) => {
  const { plan, written } = document
  const target = await openTarget(settings, { say: () => {}, mayStart: false })
  try {
    const readPlan = readPlanOf(
      { ...settings, reads: 'master', mode: 'manual', fetch: 'get', verify: false, driver: 'socket' },
      {
        announced: { ...plan, startedMs: 0, renewedMs: 0, ended: true },
        agents: [1],
        cluster: target.kind === 'cluster',
        masters: target.topology.masters.length,
      },
    )
    const driver = await socketReadDriver({
      plan: readPlan,
      target,
      machine: machineWith(() => performance.now()),
      onEvent: () => {},
    })
    try {
      const servers = driver.servers()
      const times = await serverTimes(document, { servers, time: target.time, epochMs: Date.now })
      return await checkWritten({ plan, written, ...times, driver })
    } finally {
      driver.close()
    }
  } finally {
    await target.close()
  }
}

/** @param {Option} option */
const isOfTarget = ({ group, name }) => group.startsWith('Target') || ['json', 'prefix'].includes(name)

const json = 'print what was found as JSON, and nothing else'

// A consumer's options, of which only those of the target matter.
const options = optionsOf('consumer').map((option) =>
  isOfTarget(option)
    ? { ...option, ...(option.name === 'json' && { help: json, brief: json }) }
    : { ...option, hidden: exactly(true) },
)

/** @type {Command} */
export const command = {
  about: {
    words: 'RESULTS',
    does: 'Checks that everything that a run had acknowledged is still there, byte by byte.',
    examples: [
      ['a run that writes each item once', 'results/mine'],
      ['through another node', 'results/mine --host 10.0.0.7 --cluster'],
    ],
    more: `RESULTS is the folder of a run of millrace write with --once and a long --ttl. Without an address it reads where the run wrote. Local servers end with their run, so nothing is left to verify. Exit code 4: something that was acknowledged is missing or has changed.`,
  },
  options,
  takesWords: true,
  placed,
  work: async (asked) => {
    const { typed, redact, settings: own } = asked
    const [folder] = typed.words
    refuseWords(typed, 1)
    const document = await documentIn(folder)
    refuseContradictions(folder, document)
    const settings = await withPassword(attached(document, /** @type {ReaderSettings} */ (own)), redact)
    const checked = await checkedIn(document, settings)
    printData(settings.json, checked, () => `${sentencesOf(checked, document)}\n`)
    const { lost, expired, acked } = checked
    const isProven = lost + expired === 0 && acked > 0 && document.written.complete
    return isProven ? ExitCode.done : ExitCode.invalid
  },
}
