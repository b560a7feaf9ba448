// `millrace profile`: which keys a server has and which commands it is sent, by its counters and a small sample.
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { optionsOf, ownOptions } from '../../../settings.js'
import { advised } from '../../answers/profile/advise.js'
import { collected } from '../../answers/profile/collect.js'
import { profileOf } from '../../answers/profile/profile.js'
import { profile as kit, profileDocument } from '../../answers/profile/report.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { unlessInterrupted } from '../../base/interrupts.js'
import { withUndo } from '../../base/undo.js'
import { plainData, plainText } from '../../base/units.js'
import { writeFiles } from '../../report/write-report.js'
import { outFolder, runName } from '../../result/files.js'
import { accessWarnings } from '../../servers/access.js'
import { startEmbedded } from '../../servers/embedded.js'
import { openTarget } from '../../servers/open.js'
import { printAnswer } from '../answer.js'
import { withPassword } from '../password.js'
import { screenOf } from '../screen.js'
import { interruptsOfRun } from '../signals.js'
import { profileSnapshot } from '../snapshot.js'

/**
 * @import { Redactor } from '../../base/redact.js'
 * @import { Profile } from '../../answers/profile/profile.js'
 * @import { Command } from '../commands.js'
 * @import { Values } from '../../options/values.js'
 */

// biome-ignore format: a table, an option a row
const own = ownOptions('Profile', [
  { name: 'duration', key: 'durationMs', type: 'duration', range: ['1s', '24h'], unit: 's', default: '1m',
    brief: 'how long the server is looked at; Ctrl-C ends it sooner',
    help: 'how long the server is looked at; Ctrl-C ends it sooner, with what was seen' },
  { name: 'share', was: { budget: '--share' }, key: 'budget', type: 'text', place: 'SHARE', default: '1%',
    help: "commands that may be sent, as a share of the server's own (0.01% to 50%); at least 5 a second" },
  { name: 'anonymous', type: 'flag', help: 'names of keys keep their shape and no word' },
  { name: 'advise', type: 'flag', brief: 'shows what surely costs less, measured on a local server',
    help: 'plays patterns in other forms on a local server, and shows those that surely cost less here (a minute)' },
  { name: 'snapshot', key: 'snapshotFile', type: 'path', place: 'FILE', brief: 'an RDB file in place of a live server: all its keys, loaded here',
    help: 'a snapshot file (RDB) in place of a live server: a private server on this machine loads it, and all its keys are looked at, or ' +
      'the part that the free memory has room for' },
  { name: 'out', type: 'path', default: 'profile', help: 'folder under which a folder for this profile is made' },
  { name: 'json', type: 'flag', help: 'print profile.json on stdout, and nothing else' },
])

const workloadName = 'workload.yaml'

/** @param {string} text */
const budgetOf = (text) => {
  const budget = Number(/^(\d+(?:\.\d+)?)\s*%$/.exec(text)?.[1]) / 100
  if (!(budget >= 0.0001 && budget <= 0.5))
    throw new OptionError(`--share ${plainText(text).slice(0, 40)}: must be from 0.01% to 50%`)
  return budget
}

/** Advice by a local server, which ends with it. @param {Profile} profile @param {{ stop: AbortSignal, say: (line: string) => void }} needs */
const adviceFor = (profile, needs) =>
  withUndo(async (undo) => {
    const local = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
    undo(() => local.close())
    const [{ host, port }] = local.nodes
    const client = new Redis({ host, port, password: local.access.password })
    undo(() => client.disconnect())
    return advised(profile, { client, ...needs })
  })

/** @param {Values} settings @param {Redactor} redact */
const profiled = (settings, redact) =>
  withUndo(async (undo) => {
    const { durationMs, anonymous: isAnonymous, out, json } = settings
    const budget = budgetOf(settings.budget)
    if (settings.snapshotFile !== undefined) {
      if (settings.given.host === 'command line')
        throw new OptionError('--snapshot and --host exclude each other: a file is looked at here')
      const { stop } = interruptsOfRun()
      const { say, done } = screenOf({ ...settings, quiet: false, json })
      undo(done)
      await profileSnapshot(settings, { stop, say })
      return stop.aborted ? ExitCode.interrupted : ExitCode.done
    }
    if (settings.host === undefined)
      throw new OptionError('--host is missing: which server is to be looked at?')
    const { stop } = interruptsOfRun()
    const { say, warn, done } = screenOf({ ...settings, quiet: false, json })
    undo(done)
    accessWarnings(settings).forEach(warn)
    const target = await unlessInterrupted(stop, openTarget(settings, { say, mayStart: false }))
    undo(() => target.close())
    redact.learn(target.access.password)
    const startedMs = Date.now()
    await outFolder(out)
    const masters = target.topology.masters.map((address) => ({ address, client: target.control(address) }))
    const seen = await collected({ masters, durationMs, budget, stop, say })
    const profile = profileOf(seen, {
      startedMs,
      isAnonymous,
      versions: target.versions,
      isInterrupted: stop.aborted,
      replicas: target
        .nodes()
        .filter(({ role }) => role === 'replica')
        .map(({ address }) => address),
    })
    const advice = settings.advise && !stop.aborted ? await adviceFor(profile, { stop, say }) : null
    const folder = join(out, runName(startedMs, 'profile'))
    const made = profileDocument(profile, advice, join(folder, workloadName))
    const document = redact.data(plainData(made.document))
    await outFolder(folder)
    await writeFiles(folder, { ...(await kit.files(document)), [workloadName]: made.text })
    done()
    printAnswer(document, json, kit.text)
    return stop.aborted ? ExitCode.interrupted : ExitCode.done
  })

const ofTarget = optionsOf('cleanup').filter(({ name }) => !['prefix', 'yes'].includes(name))

/** @type {Command} */
export const command = {
  about: {
    does: 'Looks at a live server: its counters, and a small sample of its keys; or at all keys of a snapshot file. Shows which patterns of keys and which commands there are, and writes a workload file that millrace replay, write, compare and find play.',
    examples: [
      ['ten minutes of a cluster', '--host cache.example.net --tls --cluster --duration 10m'],
      ['all keys of a snapshot, without a server', '--snapshot dump.rdb'],
      ['without words of its keys', '--host cache.example.net --tls --anonymous'],
    ],
    more: 'It reads no value and changes nothing. docs/profile.md says what it asks, which ACL user it needs, and what it cannot know.',
  },
  options: [...own, ...ofTarget],
  work: async ({ settings, redact }) => profiled(await withPassword(settings, redact), redact),
}
