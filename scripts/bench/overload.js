// What a rate far beyond the servers' limit stores, beside the mean of two runs that ask for no rate, one before and one after, with
// the same items, and how long another client waits then. Those two also show how far two runs of the same are apart.
import { digits, median, start } from './room.js'

/** @import { Case, Row } from './room.js' */

/** @type {[string, string[]][]} */
const loads = [
  ['-c 1', ['-q', '50000']],
  ['-c 10', ['-q', '400000', '-c', '10']],
  ['-c 100', ['-q', '400000', '-c', '100']],
  ['-t 8 -a all', ['-q', '48000', '-t', '8', '-a', 'all']],
  ['an even rate', ['-q', '50000']],
]
/** @type {[string, string[]][]} */
const targets = [
  ['one server', []],
  ['3+3, one sorted set', ['--cluster']],
  ['3+3, ten sorted sets', ['--cluster', '--sets', '10', '--spread']],
]

/** @param {string} where @param {string[]} target @param {string} what @param {string[]} load @returns {Case} */
const overload = (where, target, what, load) => ({
  name: `overload of ${where}, ${what}`,
  round: async (room) => {
    const quantity = Number(load[1])
    const play = async (/** @type {string[]} */ pace) => {
      const seconds = ['--warm-up', '1', '--duration', String(room.seconds(6) + 1)]
      const args = [...load, ...target, ...pace, ...seconds, '--idle-cost', 'never']
      const { rate: done, items, commands, bystander_us: wait } = await start(room, 'producer.js', args).ended
      return { hz: done.achieved, commands: commands.sent / items.acked, waitUs: wait.p99 }
    }
    const most = await play(['--rate', 'max'])
    const paceOf = (/** @type {number} */ hz) =>
      what === 'an even rate'
        ? ['--rate', String(Math.round(hz))]
        : ['-p', `${Math.max(1, Math.round((1000 * quantity) / hz))}ms`]
    const faster = (/** @type {number} */ times) => play(paceOf(times * most.hz))
    const twice = await faster(2)
    const tenfold = await faster(10)
    const again = await play(['--rate', 'max'])
    // One before and one after: what the machine does meanwhile weighs on both sides.
    const beside = (most.hz + again.hz) / 2
    const besideUs = (most.waitUs + again.waitUs) / 2
    return {
      twice: twice.hz / beside,
      tenfold: tenfold.hz / beside,
      again: again.hz / most.hz,
      waste: Math.max(twice.commands, tenfold.commands) / most.commands,
      // Each by itself: of three that vary alike, the longer of two is above the third two times of three.
      waitTwice: twice.waitUs / besideUs,
      waitTenfold: tenfold.waitUs / besideUs,
      waitAgain: again.waitUs / most.waitUs,
    }
  },
  rows: ({ twice, tenfold, again, waste, waitTwice, waitTenfold, waitAgain }) => [
    ...[
      { times: 'twice', ratio: median(twice) },
      { times: 'ten times', ratio: median(tenfold) },
    ].map(({ times, ratio }) => ({
      name: `${where}, ${what}: stored at ${times} the rate of --rate max, by what that stored`,
      limit: '0.95 or more',
      figure: digits(ratio),
      met: ratio >= 0.95,
    })),
    control(`${where}, ${what}: stored by a second --rate max, by the first`, again),
    {
      name: `${where}, ${what}: commands sent for an item stored, by those of --rate max`,
      limit: '1.02 or less',
      figure: digits(median(waste), 3),
      met: median(waste) <= 1.02,
    },
    ...[
      { times: 'twice', ratio: median(waitTwice) },
      { times: 'ten times', ratio: median(waitTenfold) },
    ].map(({ times, ratio }) => ({
      name: `${where}, ${what}: p99 of another client's wait at ${times} the rate, by that beside --rate max`,
      limit: '1 or less',
      figure: digits(ratio),
      met: ratio <= 1,
    })),
    control(
      `${where}, ${what}: p99 of another client's wait beside a second --rate max, by the first`,
      waitAgain,
    ),
  ],
})

/** @param {string} name @param {number[]} ratios @returns {Row} */
function control(name, ratios) {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return {
    name,
    limit: 'control',
    figure: `${digits(median(ratios))} (${digits(least)} to ${digits(most)})`,
    met: null,
  }
}

export const overloadCases = targets.flatMap(([where, target]) =>
  loads.map(([what, load]) => overload(where, target, what, load)),
)
