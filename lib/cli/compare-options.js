// The options and the help of `millrace compare`.
import { ownOptions } from '../../settings.js'

/** @import { About } from '../options/help.js' */

/** How long the runs are, and how many. */
// biome-ignore format: a table, an option a row
export const compareOptions = ownOptions('Options', [
  { name: 'rounds', type: 'integer', range: ['2', '1000'], otherwise: '6',
    brief: 'rounds, each with a run of every side (6)', help: 'rounds, each with a run of every side' },
  { name: 'until-sure', type: 'flag', brief: 'stop when it can tell, 20 rounds at most',
    help: 'look after 6 rounds and after every second one further, and stop when it can tell. It still errs in 5 % of comparisons at most: a group-sequential t-test with alpha spending' },
  { name: 'max-rounds', type: 'integer', range: ['6', '200'], otherwise: '20', help: 'of --until-sure' },
  { name: 'seconds', type: 'number', range: ['1', '86400'], default: '10', brief: true, help: 'measured, of every run' },
  { name: 'warm-up', type: 'number', range: ['0', '86400'], default: '3', brief: true, help: 'seconds before that' },
  { name: 'seed', type: 'integer', range: ['0', '4294967295'], default: '1',
    help: 'of the order (behind --, that of the values)' },
  { name: 'dry-run', type: 'flag',
    brief: 'print how long it would take, and run nothing', help: 'print how many runs and how long, and run nothing' },
  { name: 'out', type: 'path', default: 'results/compare', brief: true, help: 'folder of the results' },
  { name: 'resume', type: 'flag',
    help: 'continue the newest comparison of the same terms; without it earlier rounds do not count' },
  { name: 'all', type: 'flag', help: 'metrics without a verdict too' },
  { name: 'json', type: 'flag', help: 'print compare.json' },
])

/** @type {Omit<About, 'as'>} */
export const compareAbout = {
  words: 'A B [...]',
  does: 'Runs A and B in turn (ABBA), on local servers or on a target, and prints for each metric: better, worse, no difference beyond 3 %, or cannot tell. A is the baseline. More sides are ranked.',
  examples: [
    ['two data models at a rate', 'sorted-set list -q 50000'],
    ['several, ranked', 'sorted-set list stream set -q 50000'],
    ['on servers of your own', 'sorted-set stream -q 50000 --cluster --host cache.example.net'],
    ['the same model with other options', "default 'chunks=10 ttl=9' -q 50000"],
    ['how long it would take', 'sorted-set list -q 50000 --until-sure --dry-run'],
  ],
  more: `Each side is one word or more in quotes:
  list                       a data model
  ./feed.yaml                your own, from its file
  strategy=list chunks=4     options of millrace write in which the sides differ
  server-bin=PATH            another server program
  config.appendonly=yes      a line of the local servers' configuration
  millrace=FOLDER            another version of Millrace
  name=LABEL                 what the side is called
  default                    nothing of its own
All other options of millrace write are those of both sides; behind -- also those that have a name of an option above.
Without an address servers are started here; between runs they are emptied, and those of a target are waited for until the items of the last run have expired. The password is REDIS_PASSWORD in the environment, or --password-file.
With more than two sides a round has its runs in random order (the next one in the reverse of it); all are compared with A, and the table names the side that is best. The intervals of a metric hold together for all sides.
Exit code 4: fewer than two rounds of a side are valid.`,
}
