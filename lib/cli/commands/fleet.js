// `millrace fleet`: a run of many boxes from anywhere: how it goes, its result, and an end to it.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname, userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownOptions } from '../../../settings.js'
import { ExitCode, OptionError, TargetError } from '../../base/errors.js'
import { certain, entryOf, exactly } from '../../base/typed.js'
import { several } from '../../base/units.js'
import { controlOf, openControl, stopsInMs } from '../../fleet/control.js'
import { runsOn, statusOf } from '../../fleet/status.js'
import { refuseWords, unknownAction } from '../../options/command-line.js'
import { fleetLine, fleetScreen } from '../../report/fleet-live.js'
import { runText } from '../../report/text.js'
import { controlPlace } from '../../run/fleet.js'
import { makeResult, pagesOfSeconds, sharedIn } from '../../run/fleet-result.js'
import { answerOf } from '../../servers/control.js'
import { disconnect } from '../../servers/disconnect.js'
import { printData } from '../answer.js'
import { openPage } from '../dashboard.js'
import { exitCodeOf } from '../ending.js'
import { hasColor } from '../log.js'
import { mergedResults } from '../run.js'
import { screenSay } from '../say.js'
import { interruptsOfRun } from '../signals.js'

/**
 * @import { Redactor } from '../../base/redact.js'
 * @import { Control, Place } from '../../fleet/control.js'
 * @import { Warning } from '../../measures/warnings.js'
 * @import { Shared } from '../../run/fleet-result.js'
 * @import { Command } from '../commands.js'
 * @import { Values } from '../../options/values.js'
 * @import { Status } from '../../fleet/status.js'
 *
 * @typedef {{ control: Control, place: Place, run: string, settings: Values, redact: Redactor }} Asking
 */

// `millrace fleet watch`: prints the state of a run once a second until it has ended; a control server that does not answer
// is waited for.

const everyMs = 1000
// A silence of the control server that is longer than the first is reported; after the second the watch ends.
const lateMs = 2000
const awayLimitMs = 300_000

/** Draws a screen over the previous one, without a blank one in between, which flickers. @param {readonly string[]} lines */
const redrawn = (lines) => `\x1b[H${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`

/** @param {NodeJS.WriteStream} stdout @returns {(status: Status, silentMs: number) => void} */
const screenOn = (stdout) => {
  let isFirst = true
  return (status, silentMs) => {
    const layout = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24, color: true, silentMs }
    // What was there before goes to the terminal's history, and the result takes the place of the last screen.
    if (isFirst) stdout.write('\x1b[H\x1b[2J')
    isFirst = false
    stdout.write(redrawn(status.state === 'done' ? [] : fleetScreen(status, layout)))
  }
}

/** A line of JSON for each new status. @param {NodeJS.WriteStream} stdout @returns {(status: Status) => void} */
const dataOn = (stdout) => {
  /** @type {Status | null} */
  let last = null
  return (status) => {
    if (status !== last) stdout.write(`${JSON.stringify(status)}\n`)
    last = status
  }
}

/** @param {NodeJS.WriteStream} stdout @returns {(status: Status, silentMs: number) => void} */
const linesOn = (stdout) => (status, silentMs) => void stdout.write(`${fleetLine(status, silentMs)}\n`)

/**
 * @param {object} needs
 * @param {() => Promise<Status>} needs.readStatus rejects where the control does not answer, or does not know the run
 * @param {boolean} needs.json
 * @param {NodeJS.WriteStream} [needs.stdout]
 * @returns {Promise<Status>} of a run that has ended, or was refused
 */
const watchFleet = async ({ readStatus, json, stdout = process.stdout }) => {
  const show = json ? dataOn(stdout) : stdout.isTTY ? screenOn(stdout) : linesOn(stdout)
  let status = await readStatus()
  let heardMs = performance.now()
  const silentMs = () => {
    const ms = performance.now() - heardMs
    return ms < lateMs ? 0 : ms
  }
  for (;;) {
    show(status, silentMs())
    if (status.refused || status.state === 'done') return status
    await sleep(everyMs)
    const timer = setInterval(() => show(status, silentMs()), lateMs)
    try {
      status = await readStatus()
      heardMs = performance.now()
    } catch (error) {
      if (silentMs() > awayLimitMs) throw error
    } finally {
      clearInterval(timer)
    }
  }
}

const nameOfRun = /^[A-Za-z0-9][\w.-]{0,99}$/
const anyPort = Object.freeze({ host: '127.0.0.1', port: 0 })
const actions = exactly(['status', 'watch', 'serve', 'report', 'stop'])
const all = [...actions, 'files']

/** @param {Asking} asking */
const statusOfRun = async ({ control, run, place: { address, access } }) => {
  const status = await answerOf(`--control ${address}`, access, statusOf(control, run))
  if (status) return status
  const runs = await runsOn(control.client)
  const there =
    runs.length > 0
      ? `; there ${runs.length === 1 ? 'is' : 'are'} ${runs.slice(0, 10).join(', ')}`
      : '; none has run there in a day'
  throw new TargetError(`${address} knows no run ${run}${there}`, { code: 'NO_RUN' })
}

/** @param {Asking} asking */
const showStatus = async (asking) => {
  const status = await statusOfRun(asking)
  const layout = { columns: process.stdout.columns ?? 80, color: hasColor(process.stdout) }
  printData(asking.settings.json, status, () => `${fleetScreen(status, layout).join('\n')}\n`)
  return ExitCode.done
}

/** Until the run has ended; then with its exit code. @param {Asking} asking */
const watch = async (asking) => {
  const status = await watchFleet({ readStatus: () => statusOfRun(asking), json: asking.settings.json })
  return status.refused ? ExitCode.target : conclude(asking, false)
}

/** @param {Asking} asking @param {Shared} shared */
const stored = async ({ control, settings, run, redact }, shared) => {
  const warn = (/** @type {Warning} */ { message }) => void process.stderr.write(`${message}\n`)
  const seconds = () => pagesOfSeconds(control)
  const results = await mergedResults(
    { outDir: settings.out, run, strategy: shared.document.plan.strategy },
    { all: { ...shared, seconds }, redact: redact.data, warn },
  )
  if (!results) throw new OptionError(`--out ${settings.out}: results of ${run} exist there`)
  await results.finish(redact.data(shared.document))
  await results.discard()
  const { reportRun } = await import('../../report/write-report.js')
  await reportRun(results.folder)
  return results.folder
}

/** @param {Asking} asking @param {boolean} store the files of the run too */
const conclude = async (asking, store) => {
  const { control, settings } = asking
  const shared = sharedIn(await control.result())
  if (!shared) throw new TargetError(`the result of ${asking.run} is no longer on the control`)
  const { document } = shared
  const folder = store ? await stored(asking, shared) : undefined
  process.stdout.write(
    settings.json
      ? `${JSON.stringify(document, null, store ? 2 : 0)}\n`
      : runText(document, {
          columns: process.stdout.columns,
          color: hasColor(process.stdout),
          report: folder && `${folder}/report.html`,
        }),
  )
  return exitCodeOf(document)
}

/** The result of a run whose boxes have left is made here. @param {Asking} asking */
const report = async (asking) => {
  const status = await statusOfRun(asking)
  const { control, place, run } = asking
  if (status.state === 'joining')
    throw new TargetError(`${run} has not begun${status.refused ? `: ${status.refused}` : ''}`)
  if (status.state !== 'done') {
    const there = status.boxes.filter(({ state }) => state !== 'lost' && state !== 'done')
    if (there.length > 0 || status.leader !== null)
      throw new TargetError(
        `${run} is under way, ${several(there.length, 'box')}${there.length > 1 ? 'es' : ''} at work: millrace fleet watch ${run} shows it`.replace(
          ' boxs',
          ' boxe',
        ),
      )
    const box = randomUUID()
    if (!(await control.lead(box))) throw new TargetError(`a box of ${run} makes the result now; try again`)
    await makeResult({ control, address: place.address, run, box })
  }
  return conclude(asking, true)
}

/** @param {Asking} asking */
const stop = async (asking) => {
  const { state } = await statusOfRun(asking)
  if (state === 'done') throw new TargetError(`${asking.run} has ended already`)
  await asking.control.stop(`${userInfo().username}@${hostname()}`)
  process.stdout.write(
    `${asking.run}: the boxes stop together in ${stopsInMs / 1000} s, and make the result of what there is\n`,
  )
  return ExitCode.done
}

/** Until it is interrupted: the page has the whole run afterwards as well. @param {Asking} asking */
const serve = async (asking) => {
  const { settings, run } = asking
  await statusOfRun(asking)
  const place = await controlPlace(settings.control, { caFile: settings.controlCa }, screenSay)
  const page = await openPage(settings.dashboard ?? anyPort, { place, run })
  process.stdout.write(settings.json ? `${JSON.stringify({ url: page.address })}\n` : `${page.address}\n`)
  const { stop } = interruptsOfRun()
  if (!stop.aborted) await once(stop, 'abort')
  await page.close()
  return ExitCode.done
}

/** @param {{ words: readonly string[], separator: number | null, settings: any, as: string }} asked */
const awsFilesOf = async ({ words, separator, settings, as }) => {
  const own = separator === null ? words : words.slice(0, separator)
  const [, run] = own
  if (settings.boxes === undefined || run === undefined || !nameOfRun.test(run))
    throw new OptionError(
      `what is to be started? ${as} files RUN --boxes 8xc7g.large -- OPTIONS of millrace write`,
    )
  refuseWords({ words: own, behind: [] }, 2)
  const behind = separator === null ? [] : words.slice(separator)
  const { awsFiles } = await import('../fleet-aws.js')
  await awsFiles({ run, behind, settings })
}

const works = { status: showStatus, watch, serve, report, stop }

/** @type {Command} */
export const command = {
  about: {
    words: 'status|watch|serve|report|stop|files RUN --control URL',
    does: 'Shows, watches, serves (a live page) or stops a run of many boxes, or writes its result, from anywhere that reaches the control server. Without RUN, status lists the runs of the last day. files writes what starts its boxes on EC2.',
    examples: [
      ['how the boxes do', 'status spring-test --control redis://control:6379'],
      ['a live page in a browser', 'serve spring-test --control redis://control:6379'],
      ['eight boxes on EC2 that end themselves', 'files spring-test --boxes 8xc7g.large -- -q 3M -t 8'],
      ['the result, page and charts', 'report spring-test --control redis://control:6379'],
    ],
  },
  // biome-ignore format: a table, an option a row
  options: ownOptions('Options', [
    { name: 'control', type: 'server', secret: true, env: 'MILLRACE_CONTROL',
      help: 'the Redis or Valkey where the boxes meet, redis://user:password@host:port/db' },
    { name: 'ca', key: 'controlCa', type: 'path', help: 'certificate of the authority of a rediss:// control' },
    { name: 'dashboard', type: 'listener', bare: 'auto',
      help: 'where serve has its page: a port of this machine, or address:port; any free port without it' },
    { name: 'out', type: 'path', default: 'results', help: 'folder of the results that report writes, and of files' },
    { name: 'boxes', type: 'text', pattern: /^\S{1,60}$/, expects: 'boxes of a type, as in 8xc7g.large',
      help: 'of files: how many boxes of which type of instance, as in 8xc7g.large (spot) or 8xc7g.large,on-demand; the options of millrace write come behind --' },
    { name: 'ttl', key: 'ttlMs', type: 'duration', range: ['10m', '48h'], unit: 's', default: '2h',
      help: 'of files: after which time a box ends itself, whatever it does' },
    { name: 'region', type: 'text', pattern: /^[a-z]{2}(-[a-z]+)+-\d$/, expects: 'a region such as eu-west-1', help: 'of files: AWS region of the boxes' },
    { name: 'dry-run', key: 'dryRun', type: 'flag', help: 'of files: write nothing, and say what the boxes cost' },
    { name: 'json', type: 'flag', help: 'print JSON on stdout, and nothing else' },
  ]),
  takesWords: true,
  words: () => all,
  work: async ({ settings, typed: { words, behind, separator }, redact, as }) => {
    const [action, run] = words
    if (action === 'files') {
      await awsFilesOf({ words, separator, settings, as })
      return ExitCode.done
    }
    if (!actions.some((name) => name === action)) throw unknownAction(action, all)
    if (!settings.control) throw new OptionError(`${as} ${action} needs --control URL`)
    refuseWords({ words: words.slice(2), behind: behind.slice(2) })
    if (run === undefined && action !== 'status')
      throw new OptionError(`one run: ${as} ${action} RUN --control URL`)
    if (run !== undefined && !nameOfRun.test(run))
      throw new OptionError(`${as} ${action}: a run is named by letters, digits, dots and dashes`)
    redact.learn(settings.control.password)
    const place = await controlPlace(settings.control, { caFile: settings.controlCa }, screenSay)
    const client = await openControl(place)
    try {
      if (run === undefined) {
        const runs = await runsOn(client)
        process.stdout.write(
          settings.json ? `${JSON.stringify(runs)}\n` : runs.map((name) => `${name}\n`).join(''),
        )
        return ExitCode.done
      }
      const asking = { control: controlOf(client, run), place, run, settings, redact }
      return await certain(entryOf(works, action))(asking)
    } finally {
      disconnect(client)
    }
  },
}
