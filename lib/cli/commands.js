// The commands of `millrace`. A command's module is loaded when it is used.

/**
 * @import { Settings } from '../../settings.js'
 * @import { Redactor } from '../base/redact.js'
 * @import { Typed } from '../options/command-line.js'
 * @import { About } from '../options/help.js'
 *
 * @typedef {import('../../settings.js').Option} Option
 *
 * @typedef {object} Asked
 * @property {any} settings of the command's options, by their keys
 * @property {Typed} typed
 * @property {NodeJS.ProcessEnv} env with what a parent has handed over
 * @property {string | undefined} dotenvText
 * @property {Redactor} redact
 * @property {string} as what the user typed: `millrace write`, `node producer.js`
 * @property {Commands} commands all of them
 *
 * @typedef {object} Command
 * @property {Omit<About, 'as'>} about
 * @property {readonly Option[]} options
 * @property {readonly Option[]} [passed] options that are taken as they were typed, and handed on
 * @property {boolean} [isPrivate] its options come from the command line alone
 * @property {Option[]} [own] of the options those that it is given as settings; it checks the others itself
 * @property {boolean} [takesWords]
 * @property {(typed: Typed) => Promise<Typed>} [placed] adds the
 *   address that its words lead to
 * @property {() => readonly string[]} [words] what they may be, for a shell that completes them
 * @property {(asked: Asked) => Promise<number>} work returns the exit code
 *
 * @typedef {Readonly<Record<string, { what: string, load: () => Promise<{ command: Command }> }>>} Commands
 */

/** @type {Commands} */
export const commands = {
  write: { what: 'writes items, and reports what that cost', load: () => import('./commands/write.js') },
  read: {
    what: 'reads the latest items, and reports how fast and how fresh',
    load: () => import('./commands/read.js'),
  },
  demo: { what: 'fifteen seconds on a local cluster', load: () => import('./commands/demo.js') },
  find: {
    what: 'finds the highest rate that is sustained under your limits',
    load: () => import('./commands/find.js'),
  },
  compare: {
    what: 'runs two sides in turn: what differs, and how sure that is',
    load: () => import('./commands/compare.js'),
  },
  choose: {
    what: 'chooses the data model that costs least at your load',
    load: () => import('./commands/choose.js'),
  },
  diff: { what: 'compares finished runs or experiments', load: () => import('./commands/diff.js') },
  experiment: {
    what: 'runs a published experiment, or one of your own',
    load: () => import('./commands/experiment.js'),
  },
  staff: { what: 'compares one large node with many small ones', load: () => import('./commands/staff.js') },
  scale: { what: 'says how many workers of a queue a rate needs', load: () => import('./commands/scale.js') },
  calibrate: {
    what: 'measures what a command, an item and a byte cost, for plans',
    load: () => import('./commands/calibrate.js'),
  },
  plan: {
    what: 'predicts what a rate costs, and on which nodes',
    load: () => import('./commands/plan.js'),
  },
  profile: {
    what: 'shows which keys and commands a live server has, and writes a workload file',
    load: () => import('./commands/profile.js'),
  },
  replay: {
    what: 'plays a workload file of profile, at its rate or a multiple of it',
    load: () => import('./commands/replay.js'),
  },
  fleet: {
    what: 'shows, stops and reports a run of many boxes',
    load: () => import('./commands/fleet.js'),
  },
  report: {
    what: 'writes the page and the charts of finished results',
    load: () => import('./commands/report.js'),
  },
  verify: {
    what: 'checks that every acknowledged item is still there',
    load: () => import('./commands/verify.js'),
  },
  cleanup: { what: 'removes what runs left on a target', load: () => import('./commands/cleanup.js') },
  reshard: { what: 'changes a cluster while it serves', load: () => import('./commands/reshard.js') },
  cloudwatch: {
    what: 'adds the metrics of CloudWatch to finished results',
    load: () => import('./commands/cloudwatch.js'),
  },
  doctor: {
    what: 'what this machine and a target offer, or would refuse',
    load: () => import('./commands/doctor.js'),
  },
  completion: {
    what: 'prints the completion of bash or zsh',
    load: () => import('./commands/completion.js'),
  },
}

/** @param {string} name */
export const commandNamed = async (name) => (await commands[name].load()).command
