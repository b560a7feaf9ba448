// The account of the jobs of workers: where each job that was produced is, and whether the queue kept its promise.
import * as S from '../base/shape.js'
import { count, facts, plainText, several } from '../base/units.js'
import { metric } from './measure.js'
import { section } from './section.js'
import { note } from './warnings.js'

/** @import { Shaped } from '../base/shape-types.js' */

const account = S.object({
  ...S.each(['produced', 'done', 'done_elsewhere', 'queued', 'in_flight', 'passed', 'lost'], S.whole),
  ...S.each(['unacknowledged', 'unconfirmed', 'duplicates', 'foreign'], S.whole),
  ...S.each(['makers_at_work', 'boxes_at_work'], S.whole),
  ...S.each(['unknown', 'boxes_silent'], S.maybe(S.whole)),
  examples: S.list(S.text),
  boxes: S.maybe(S.list(S.object({ host: S.text, done: S.whole }))),
})

const jobs = S.object({
  ...S.each(['taken', 'done', 'duplicates'], S.number),
  reclaimed: S.maybe(S.number),
  settled: S.maybe(S.flag),
  ...S.each(['first_ms', 'last_ms'], S.maybe(S.number)),
  promise: S.oneOf('at-most-once', 'at-least-once'),
  account: S.nullable(account),
})

/** @typedef {Shaped<typeof account>} Account */

/** `50,000 produced = 49,000 done + 1,000 queued + 0 in flight + 0 lost` @param {Shaped<typeof jobs>} found */
const accountWords = ({ account, duplicates }) => {
  if (!account) return 'not known: the queue could not be read at the end'
  const { produced, done, queued, in_flight: inFlight, lost, unknown = 0, unacknowledged } = account
  const elsewhere = account.done_elsewhere
  return facts([
    `${count(produced)} produced = ${count(done)} done + ${count(queued)} queued + ${count(inFlight)} in flight + ${count(lost)} lost${unknown > 0 ? ` + ${count(unknown)} unknown` : ''}`,
    elsewhere > 0 && `${count(elsewhere)} of them by other boxes or earlier runs`,
    account.passed > 0 && `${count(account.passed)} between the stages`,
    `${count(Math.max(duplicates, account.duplicates))} done again`,
    unacknowledged > 0 && `${count(unacknowledged)} without an acknowledgement to their producer`,
  ])
}

/** Each job must be in exactly one place. @param {Account} account */
const placesOf = (account) => {
  const { produced, done, queued, in_flight: inFlight, lost, unknown = 0, boxes_silent: silent = 0 } = account
  const { boxes_at_work: boxes, makers_at_work: makers } = account
  const sum = done + queued + inFlight + lost + unknown
  const doubtful = `${several(unknown, 'job')} of ${count(produced)}`
  const isOne = boxes === 1
  return {
    accounting:
      produced !== sum &&
      `${count(produced)} jobs were produced, but ${count(sum)} have a place: this is an internal error of Millrace, please report it`,
    boxes:
      unknown > 0 &&
      boxes > 0 &&
      `${isOne ? 'another consumer still takes' : `${count(boxes)} other consumers still take`} jobs of this queue, and ${doubtful} are in ${isOne ? 'its' : 'their'} hands or done since ${isOne ? 'its' : 'their'} last account: the last one to end has the whole account`,
    unknown:
      unknown > 0 &&
      boxes === 0 &&
      note(
        `${several(unknown, 'job')} of ${count(produced)} may be done or lost: ${silent === 1 ? 'a consumer' : `${count(silent)} consumers`} did not end and ${silent === 1 ? 'gives' : 'give'} no sign any more, so what was confirmed there since the last account, about a second, is not known`,
      ),
    makers:
      makers > 0 &&
      note(`${several(makers, 'producer')} went on: the account covers the jobs that were produced by then`),
  }
}

/** @param {Account} account @param {boolean} promises @param {number} replies that were lost */
const lossesOf = ({ lost, duplicates, examples, produced }, promises, replies) => ({
  lost:
    lost > 0 &&
    note(
      promises
        ? `${several(lost, 'job')} of ${count(produced)} are lost (${examples.map(plainText).join(', ')}), although this queue promises each at least once: see the servers (eviction, failover), and who else takes from it`
        : `${several(lost, 'job')} of ${count(produced)} are lost: this queue promises each at most once, and what a worker had in hand when it died, or its connection, is gone${replies > 0 ? ` (${count(replies)} ${replies === 1 ? 'reply' : 'replies'} lost)` : ''}; --with confirm keeps them`,
      promises,
    ),
  duplicates:
    duplicates > 0 &&
    note(
      `${several(duplicates, 'job')} were done again: their worker died or was silent after doing them`,
      !promises,
    ),
})

export const accounted = section('jobs', jobs, {
  isNeeded: true,
  empty: null,
  metrics: {
    'jobs.account.produced': metric('jobs produced', 'count', 'neither'),
    'jobs.account.queued': metric('jobs still queued', 'count'),
    'jobs.account.in_flight': metric('jobs in flight', 'count'),
    'jobs.account.passed': metric('jobs between the stages', 'count'),
    'jobs.account.lost': metric('jobs lost', 'count'),
    'jobs.account.unknown': metric('jobs whose outcome is unknown', 'count'),
    'jobs.account.duplicates': metric('jobs done again', 'count'),
  },
  rows: (found, { workers, commands }) => {
    const { promise, reclaimed = 0, account } = found
    const lost = commands.lost_replies.take + commands.lost_replies.confirm
    // The first is the one that reports.
    const boxes = account?.boxes?.map(({ host, done }) => `${plainText(host)} ${count(done)}`)
    return {
      jobs: accountWords(found),
      boxes: boxes && `${boxes.join(', ')} jobs · fairness ${workers.boxes_fairness?.toFixed(3) ?? '–'}`,
      promise: facts([
        promise === 'at-least-once'
          ? 'each job at least once: confirmed when done, and taken over from a worker that is silent'
          : 'each job at most once: what a worker has in hand is lost with it',
        lost > 0 && `${several(lost, 'connection')} lost with a reply on the way`,
        reclaimed > 0 && `${several(reclaimed, 'job')} came back`,
      ]),
    }
  },
  reasons: ({ account, settled, promise, done }, { plan, commands }) => ({
    account:
      account === null &&
      'what the queue holds could not be read at the end, so it is unknown whether jobs were lost: see the events, and repeat',
    ...(account ? placesOf(account) : {}),
    unsettled:
      account !== null &&
      settled === false &&
      'workers still had jobs in hand when the run ended: lower --take, or see which server stopped answering',
    ...(account ? lossesOf(account, promise === 'at-least-once', commands.lost_replies.take) : {}),
    'no-jobs':
      !(done > 0) &&
      `no job was done: no producer of ${plan.strategy} is at work under ${plan.prefix ? `prefix ${plan.prefix}` : 'no prefix'}; start one, or set --strategy, --prefix`,
  }),
})
