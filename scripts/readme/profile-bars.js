// What docs/validation/profiling.md says of replays, by docs/data/profile.json, which npm run bench:profile measured.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { barNames, countsOf, medianApart, ownDistance } from '../bench/profile-bars.js'
import { dataFolder } from './data.js'
import { table } from './reference.js'

/** @import { Bar, Cost, Line } from '../bench/profile-bars.js' */

const limits = /** @type {Record<string, string>} */ ({
  share: '2 points',
  memory: '5 %, of a sample 10 %',
  lifetime: '10 %, at the median',
  'bystander p50': '25 %',
  'bystander p99': '25 %',
})
const median = (/** @type {number[]} */ numbers) =>
  numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

export const profileBarsPart = () => {
  /** @type {Line[]} */
  const lines = JSON.parse(readFileSync(join(dataFolder, 'profile.json'), 'utf8'))
  const replays = lines.filter(({ kind }) => kind === 'replay')
  const controls = lines.filter(({ kind }) => kind === 'control')
  const outsideOf = (/** @type {string} */ name) =>
    replays
      .flatMap(({ id, bars }) =>
        bars.filter((bar) => bar.name === name && bar.ruling === 'outside').map((bar) => ({ id, bar })),
      )
      .map(({ id, bar }) => `${id} ${shown(bar)}`)
  const shown = (/** @type {Pick<Bar, 'name' | 'apart'>} */ { name, apart }) =>
    name === 'share'
      ? `${(apart * 100).toFixed(1)} points`
      : `${apart > 0 ? '+' : ''}${(apart * 100).toFixed(Math.abs(apart) < 0.1 ? 1 : 0)} %`
  const all = countsOf(replays)
  const rows = barNames(replays).map((name) => {
    const own = countsOf(replays, (bar) => bar.name === name)
    const same = countsOf(controls, (bar) => bar.name === name)
    const { most, isFurther } = ownDistance(controls, name)
    const further = countsOf(replays, (bar) => bar.name === name && bar.ruling !== 'within' && isFurther(bar))
    return [
      name,
      limits[name] ?? '5 %',
      ...[own.within, own.covered, own.outside, further.bars].map(String),
      shown({ name, apart: medianApart(replays, name) }),
      `${same.within} of ${same.bars}`,
      shown({ name, apart: medianApart(controls, name) }),
      shown({ name, apart: most }).replace('+', ''),
      outsideOf(name).join(', ') || '–',
    ]
  })
  const cost = (/** @type {keyof Cost} */ name) => lines.flatMap((line) => line.cost?.[name] ?? [])
  const pct = (/** @type {number} */ part) => `${(part * 100).toFixed(2)} %`
  return [
    table(
      [
        ...['bar', 'limit', 'within', 'covered', 'outside', 'not within, and further than any control'],
        ...['median', 'controls within', 'their median', 'at most', 'outside are'],
      ],
      rows,
    ),
    '',
    `${new Set(replays.map(({ id }) => id)).size} replays (${lines[0].hardware}): of ${all.bars} bars ${all.within} are within, ${all.covered} are covered by what the profile said before, and ${all.outside} are outside. ${cost('cpu_share').length} profiles took ${pct(median(cost('commands_share')))} of the commands at the median, ${pct(Math.max(...cost('commands_share')))} at most, and ${pct(median(cost('server_cpu_share')))} of the servers' own CPU at the median, ${pct(Math.max(...cost('server_cpu_share')))} at most.`,
  ].join('\n')
}
