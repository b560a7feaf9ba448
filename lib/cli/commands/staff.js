// `millrace plan staff`: one large node, or many small ones?
import { staffingChart } from '../../../charts/staffing.js'
import { staffing, staffingAnswer } from '../../answers/staff.js'
import { ExitCode } from '../../base/errors.js'
import { drawAnswer, printAnswer } from '../answer.js'
import { staffOptions, staffRequest } from '../staff-options.js'

/** @import { Command } from '../commands.js' */

/** @type {Command} */
export const command = {
  about: {
    words: '[--from FILE|FOLDER]',
    does: 'Computes the capacity that N separate nodes need, and that of one node for the sum of their loads, with a margin of standard deviations: how often each overflows, what a failure takes, and the same for other numbers of nodes.',
    examples: [
      ['nine nodes of 12 GB, two more or less', '--nodes 9 --load mean=12GB,sd=2GB'],
      ['the CPU of the masters of a run', '--from results/spring --measure cpu'],
    ],
  },
  options: staffOptions,
  isPrivate: true,
  work: async ({ settings }) => {
    const { draw, json, ...asked } = await staffRequest(settings)
    const answer = staffingAnswer(asked)
    if (draw) await drawAnswer(staffingChart, answer, draw)
    printAnswer(answer, json, staffing.text)
    return ExitCode.done
  },
}
