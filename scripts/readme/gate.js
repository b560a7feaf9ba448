// The recorded ratios to other tools, with which the gate compares later ones, as a table.
import { recorded } from '../bench/gate.js'
import { digits, median } from '../bench/room.js'

/** @param {number} ratio */
const shown = (ratio) => digits(ratio, ratio < 10 ? 2 : 0)

export const gatePart = () => {
  const { machine, recorded: day, ratios } = recorded()
  return [
    `${machine}, ${day}:`,
    '',
    '| ratio | better | median | of the rounds |',
    '| --- | --- | ---: | --- |',
    ...ratios.map(
      ({ name, better, rounds }) =>
        `| ${name} | ${better} | ${shown(median(rounds))} | ${rounds.map(shown).join(', ')} |`,
    ),
  ].join('\n')
}
