// `millrace replay`: plays a workload file of `millrace profile` against a server, at its rate or a multiple of it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { optionsOf, ownOptions } from '../../../settings.js'
import { OptionError, unreadable } from '../../base/errors.js'
import { plainText } from '../../base/units.js'
import { refuseWords } from '../../options/command-line.js'
import { settingsOf } from '../../options/read-settings.js'
import { isRead } from '../../workloads/own/commands.js'
import { onlyReads } from '../../workloads/own/load.js'
import { linesOf } from '../../workloads/own/mix-text.js'
import { withPassword } from '../password.js'
import { interruptsOfRun } from '../signals.js'

/**
 * @import { Typed } from '../../options/command-line.js'
 * @import { Asked, Command } from '../commands.js'
 */

// The file says these.
const ofFile = ['rate', 'model', 'strategy', 'command', 'fill', 'file', 'dry-run', 'items']

// biome-ignore format: a table, an option a row
const own = ownOptions('Replay', [
  { name: 'rate', key: 'part', type: 'text', place: 'PERCENT', default: '100%',
    brief: 'of the rate that was profiled; 250%: what if it grows',
    help: "of the rate in the file's `run`: 250% answers what it costs when traffic grows (1% to 10000%)" },
  { name: 'only-reads', key: 'onlyReads', type: 'flag',
    help: 'sends only the commands of the mix that read, at their part of the rate; the keys must be there from an earlier replay' },
])
const taken = optionsOf('producer').filter(({ name }) => !ofFile.includes(name))

/** @param {string} text */
const shareOf = (text) => {
  const share = Number(/^(\d+(?:\.\d+)?)\s*%$/.exec(text)?.[1]) / 100
  if (!(share >= 0.01 && share <= 100))
    throw new OptionError(`--rate ${plainText(text).slice(0, 40)}: must be from 1% to 10000%, as in 250%`)
  return share
}

/** What the file recommends; the model itself is read and checked by --model. @param {string} path */
const runIn = (path) => {
  try {
    /** @type {typeof import('yaml')} */
    const { parse } = createRequire(import.meta.url)('yaml')
    const { run = {}, mix = [] } = parse(readFileSync(path, 'utf8'), { logLevel: 'error' }) ?? {}
    return { ...run, mix }
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** What is no mix is refused where the model is read. @param {any} mix */
const shareOfReads = (mix) => {
  const all = Array.isArray(mix) ? mix : []
  const sum = (/** @type {readonly { share?: unknown }[]} */ some) =>
    some.reduce((total, one) => total + (Number(one?.share) || 0), 0)
  const reads = all.filter((one) =>
    linesOf(one ?? {}).every(
      (line) => /^pause\b/.test(line) || isRead(String(line).trim().split(/\s/, 1)[0]),
    ),
  )
  return sum(reads) / (sum(all) || 1)
}

/** The settings of the run. @param {Asked} asked */
export const replaySettings = ({
  settings: { part: percent, onlyReads: areReads },
  typed,
  env,
  dotenvText,
}) => {
  const share = shareOf(percent)
  const [path] = typed.words
  if (path === undefined) throw new OptionError('which workload? millrace replay profile/NAME/workload.yaml')
  refuseWords(typed, 1)
  const { rate: perS, connections, pipeline, mix } = runIn(path)
  if (!(perS > 0))
    throw new OptionError(`${plainText(path)} has no run with a rate; play it with millrace write --model`)
  const texts = {
    model: areReads ? `${path}${onlyReads}` : path,
    fill: areReads ? 'none' : 'keys',
    rate: String(Math.max(1, Math.round(perS * share * (areReads ? shareOfReads(mix) : 1)))),
    ...(connections && !typed.options.has('connections') && { connections: String(connections) }),
    ...(pipeline && !typed.options.has('pipeline') && { pipeline: String(pipeline) }),
    ...(!['duration', 'requests'].some((name) => typed.options.has(name)) && { duration: '1m' }),
  }
  const options = new Map([...typed.options, ...Object.entries(texts)])
  return settingsOf({ ...typed, words: [], options }, optionsOf('producer'), { env, dotenvText })
}

/** @param {Asked} asked */
const played = async (asked) => {
  const settings = await withPassword(replaySettings(asked), asked.redact)
  return (await import('../run.js')).runProgram('producer', settings, {
    ...interruptsOfRun(),
    redact: asked.redact,
    as: asked.as,
  })
}

/** `millrace read FILE`: the reads of a workload file. @param {Asked} asked */
export const playedReads = (asked) => {
  const odd = [...asked.typed.options.keys()].find((name) => !taken.some((option) => option.name === name))
  if (odd !== undefined)
    throw new OptionError(
      `--${odd} does not go with a workload file, whose reads are sent as its clients send them; see millrace replay --help`,
    )
  return played({ ...asked, settings: { part: '100%', onlyReads: true } })
}

/** @type {Command} */
export const command = {
  about: {
    words: 'FILE',
    does: 'Plays a workload file of millrace profile: makes its keys, then sends its commands at their shares, at the rate that was profiled or a multiple of it.',
    examples: [
      ['on a test server, as it was', 'profile/NAME/workload.yaml --host test.example.net'],
      ['what if traffic grows?', 'profile/NAME/workload.yaml --host test.example.net --rate 250%'],
    ],
    more: 'Other options are those of millrace write. docs/profile.md says what a workload file assumes.',
  },
  options: own,
  passed: taken,
  takesWords: true,
  work: played,
}
