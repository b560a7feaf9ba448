// Why a run of clients may not be quoted: answers that are wrong, and updates that are lost.
import { count, rate } from '../../base/units.js'
import { writerReasons } from '../writer-reasons.js'
import { behind } from './in-flight.js'

/**
 * @import { Warning } from '../../measures/warnings.js'
 * @import { Evidence } from '../writer-reasons.js'
 */

// As a part of the updates that were asked for.
const leastShare = 0.99

/** Answers that differ from the same query over the same documents. @param {Evidence} run @returns {Warning[]} */
const wrongAnswers = (run) => {
  const { queries, updates } = run
  if (!queries) return []
  const isSlow = updates && (updates.rate ?? 0) < leastShare * (run.plan.clients.updateRateHz ?? 0)
  const { checked, wrong, partial, examples } = queries
  const first = examples[0] ? `, first that of query ${examples[0].query}` : ''
  const lost = updates ? updates.offered - updates.acked : 0
  return [
    {
      n: wrong,
      code: 'wrong-answers',
      message: `${count(wrong)} of ${count(checked)} answers are wrong${first}: they have documents that do not match, or another order; documents that an earlier run left are removed by millrace cleanup`,
    },
    {
      n: partial,
      code: 'partial-answers',
      message: `${count(partial)} of ${count(checked)} answers are partial${first}: documents that match are missing`,
    },
    {
      n: checked === 0 ? 1 : 0,
      code: 'no-answers',
      message: 'no query was answered: run for longer (--duration), or give it more time (--query-timeout)',
    },
    {
      n: isSlow ? 1 : 0,
      code: 'update-rate',
      message: `only ${rate(updates?.rate ?? 0)} of ${rate(run.plan.clients.updateRateHz)} updates/s came through: raise --update-writers, or lower --update-rate`,
    },
    {
      n: lost,
      code: 'updates',
      message: `${count(lost)} of ${count(updates?.offered ?? 0)} updates were not acknowledged`,
    },
  ].flatMap(({ n, code, message }) => (n > 0 ? [{ code, message }] : []))
}

/** Updates that were acknowledged but are not in the documents after the run. @param {Evidence} run @returns {Warning[]} */
const lostUpdates = ({ documents }) => {
  if (!documents) return []
  const { updates, uncertain, survived, lost, may_lose: mayLose } = documents
  const ofUpdates = `${count(lost ?? 0)} of ${count(updates)} updates that were acknowledged`
  return [
    {
      applies: survived === null,
      code: 'documents-unread',
      message: 'the documents could not be read after the run, so the updates lost are not known',
    },
    {
      applies: survived !== null && survived > updates + uncertain,
      code: 'foreign-updates',
      message: `the documents show ${count(survived)} updates, but only ${count(updates + uncertain)} can be of this run: another program writes there; choose another --prefix`,
    },
    {
      applies: lost > 0,
      code: 'lost-updates',
      message: mayLose
        ? `${ofUpdates} are gone: another writer had read the document before them and wrote it after them`
        : `${ofUpdates} are not in the documents, although no writer overwrites those of others: the servers lost them (a failover, an eviction), or another program writes there`,
      ...(mayLose && { invalidates: false }),
    },
  ].flatMap(({ applies, ...warning }) => (applies ? [warning] : []))
}

export const reasons = writerReasons({ behind, own: [wrongAnswers, lostUpdates] })
