// The commands of `millrace`. A command's module is loaded when it is used.
import { didYouMean } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { plainText } from '../base/units.js'

/**
 * @import { Redactor } from '../base/redact.js'
 * @import { Typed } from '../options/command-line.js'
 * @import { About } from '../options/help.js'
 * @import { Option } from '../../settings.js'
 *
 * @typedef {object} Asked
 * @property {any} settings of the command's options, by their keys
 * @property {Typed} typed
 * @property {NodeJS.ProcessEnv} env with what a parent has handed over
 * @property {string | undefined} dotenvText
 * @property {Redactor} redact
 * @property {string} as what the user typed: `millrace write`, `node producer.js`
 *
 * @typedef {object} Command
 * @property {Omit<About, 'as'>} about
 * @property {readonly Option[]} options
 * @property {readonly Option[]} [passed] options that are taken as they were typed, and handed on
 * @property {boolean} [isPrivate] its options come from the command line alone
 * @property {Option[]} [own] of the options those that it is given as settings; it checks the others itself
 * @property {boolean} [takesWords]
 * @property {(typed: Typed) => Promise<Typed>} [placed] adds the address that its words lead to
 * @property {() => readonly string[]} [words] what they may be, for a shell that completes them
 * @property {(asked: Asked) => Promise<number>} work returns the exit code
 */

/** What each does. @type {Readonly<Record<string, string>>} */
export const commands = {
  write: 'writes items, and reports what that cost',
  read: 'reads the latest items, and reports how fast and how fresh',
  demo: 'fifteen seconds on a local cluster',
  find: 'finds the highest rate that is sustained under your limits',
  compare: 'runs two sides in turn: what differs, and how sure that is',
  choose: 'chooses the data model that costs least at your load',
  diff: 'compares finished runs or experiments',
  experiment: 'runs a published experiment, or one of your own',
  staff: 'compares one large node with many small ones',
  scale: 'says how many workers of a queue a rate needs',
  calibrate: 'measures what a command, an item and a byte cost, for plans',
  plan: 'predicts what a rate costs, and on which nodes',
  profile: 'shows which keys and commands a live server has, and writes a workload file',
  replay: 'plays a workload file of profile, at its rate or a multiple of it',
  fleet: 'shows, stops and reports a run of many boxes',
  report: 'writes the page and the charts of finished results',
  verify: 'checks that every acknowledged item is still there',
  cleanup: 'removes what runs left on a target',
  reshard: 'changes a cluster while it serves',
  cloudwatch: 'adds the metrics of CloudWatch to finished results',
  doctor: 'what this machine and a target offer, or would refuse',
  completion: 'prints the completion of bash or zsh',
}

/** @param {string} name @returns {Promise<Command>} */
export const commandNamed = async (name) => {
  if (Object.hasOwn(commands, name)) return (await import(`./commands/${name}.js`)).command
  const hint = didYouMean(name, Object.keys(commands)) || ' (--help names them)'
  throw new OptionError(`millrace has no command '${plainText(name).slice(0, 40)}'${hint}`)
}
