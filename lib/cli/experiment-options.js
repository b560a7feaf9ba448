// The options and the help of `millrace experiment`.
import { optionsOf, ownOptions } from '../../settings.js'

/** @import { About } from '../options/help.js' */

const targetNames = new Set('server-bin shards replicas ask-password password sentinel-password'.split(' '))
/** Where the runs go: options of the producer. */
export const targetOptions = optionsOf('producer').filter(
  ({ group, name }) => (group.startsWith('Target') && !targetNames.has(name)) || name === 'allow',
)

// biome-ignore format: a table, an option a row
export const experimentOptions = ownOptions('Options', [
  { name: 'all', type: 'flag', help: 'run all of them' },
  { name: 'scale', type: 'number', range: ['0.0001', '1000'], default: '1',
    help: 'quantities times N: with 0.1 a laptop can run what was published from EC2' },
  { name: 'repeat', type: 'integer', range: ['1', '1000'], default: '3',
    help: 'rounds, in shuffled, then mirrored order; an interval needs three' },
  { name: 'seconds', type: 'number', range: ['1', '86400'], default: '20', help: 'measured, of every run or phase' },
  { name: 'warm-up', type: 'number', range: ['0', '86400'], default: '3', help: 'seconds before that' },
  { name: 'seed', type: 'integer', range: ['0', '4294967295'], default: '1', help: 'random seed of the order' },
  { name: 'out', type: 'path', otherwise: 'results/experiments', help: 'folder of the results' },
  { name: 'dry-run', type: 'flag', help: 'print the cells, the rounds and how long they take; run nothing' },
  { name: 'boxes', type: 'integer', range: ['2', '1000'], otherwise: 'this one alone',
    help: 'how many boxes play the experiment: type the same on each, with --control, --run and an address' },
  { name: 'control', type: 'server', secret: true, otherwise: 'MILLRACE_CONTROL, with --boxes',
    help: 'the Redis or Valkey where the boxes meet' },
  { name: 'run', type: 'text', pattern: /^[A-Za-z0-9][\w.-]{0,29}$/, expects: 'letters, digits, dots and dashes, at most 30', otherwise: 'with --boxes',
    help: 'name of it on the control, the same on every box' },
  { name: 'resume', type: 'flag', help: 'continue the newest experiment of the same options: its finished runs are kept' },
])

/** @type {Omit<About, 'as'>} */
export const experimentAbout = {
  words: 'list | show ID | run ID...',
  does: 'Runs the published experiments again, or one of your own.',
  examples: [
    ['what there is, and what each of them asks', 'list'],
    ['one of them, at a tenth of its rate', 'run list --scale 0.1'],
    ['the definition: save it, change it, and run the file', 'show list > mine.json'],
    ['one of your own', 'run ./mine.json --seconds 5'],
    ['on four boxes, each with this line', 'run list --host target --boxes 4 --run spring'],
    ['names of what a column or a ratio can have', 'show figures'],
  ],
  more: `Without an address every experiment runs on servers started here. An address is taken from the command line alone, never from the environment: --url or --host, --port, --cluster, --username, --tls, --ca and so on, as millrace write has them; the password as REDIS_PASSWORD in the environment, or by --password-file.
Ctrl-C ends an experiment with the runs it has; --resume continues it. Exit code 4: an experiment has no valid run.`,
}
