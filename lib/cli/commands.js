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
 * @property {boolean} [takesStrategy] its first word may be one: `write queue-list`
 * @property {boolean} [takesModel] or the file of a model: `write feed.yaml`
 * @property {boolean} [takesWords]
 * @property {(typed: Typed) => Promise<Typed>} [placed] adds the address that its words lead to
 * @property {() => readonly string[]} [words] what they may be, for a shell that completes them
 * @property {(asked: Asked) => Promise<number>} work returns the exit code
 */

/** What each does, by the question that it answers. A name of two words is a part of the first. */
export const questions = Object.freeze({
  measure: {
    write: 'writes at your rate: CPU, memory, network, latency',
    read: 'reads the latest items: how fast, how fresh',
    experiment: 'runs a published experiment, or one of your own',
    demo: 'fifteen seconds on a local cluster',
  },
  choose: {
    compare: 'plays sides in turn: what differs, and how surely',
    choose: 'finds the model that costs least at your load',
    find: 'finds the highest rate within your limits',
  },
  size: {
    plan: 'predicts what a rate costs, and on which nodes',
    'plan staff': 'compares one large node with many small ones',
    'plan scale': 'says how many workers of a queue a rate needs',
    calibrate: 'measures what plans are made of',
  },
  understand: {
    profile: 'shows the keys and commands of a live server',
    replay: 'plays what profile saw, at a multiple of its rate',
    doctor: 'shows what a target offers, or would refuse',
    verify: 'checks that every acknowledged item is there',
    report: 'writes the page and charts of finished results',
    diff: 'compares finished runs or experiments',
    metrics: 'lists what a threshold may name',
    cloudwatch: 'adds the metrics of CloudWatch to results',
  },
  operate: {
    fleet: 'shows, stops and reports a run of many boxes',
    cleanup: 'removes what runs left on a target',
    reshard: 'changes a cluster while it serves',
    completion: 'prints the completion of bash or zsh',
  },
})

/** @type {Readonly<Record<string, string>>} */
export const commands = Object.freeze(Object.assign({}, ...Object.values(questions)))

/** The command that a line names, and what is behind it. @param {readonly string[]} line @returns {{ name: string, argv: string[] }} */
export const commandIn = ([first = '', ...rest]) =>
  Object.hasOwn(commands, `${first} ${rest[0]}`)
    ? { name: `${first} ${rest[0]}`, argv: rest.slice(1) }
    : { name: first, argv: [...rest] }

/** @param {string} name @returns {Promise<Command>} */
export const commandNamed = async (name) => {
  if (Object.hasOwn(commands, name)) return (await import(`./commands/${name.split(' ').at(-1)}.js`)).command
  const part = Object.keys(commands).find((each) => each.endsWith(` ${name}`))
  if (part) throw new OptionError(`'${name}' is a part of plan: type millrace ${part}`)
  const hint =
    didYouMean(
      name,
      Object.keys(commands).map((each) => String(each.split(' ').at(-1))),
    ) || ' (--help names them)'
  throw new OptionError(`millrace has no command '${plainText(name).slice(0, 40)}'${hint}`)
}
