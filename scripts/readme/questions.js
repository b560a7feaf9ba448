// The README's other answers: a question, what the data of docs/data say, and the page with the picture.

import { bytes, count, micros } from '../../lib/base/units.js'
import { figureOf, timeOf } from '../pictures/counters.js'
import { invalidNote, isInvalid } from './findings.js'
import { workersNeeded } from './queues.js'
import { table } from './reference.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 *
 * @typedef {{ id: string, question: string, page: string, finding: (document: ExperimentDocument) => string }} Question
 */

const memory = 'passes.memory_bytes_per_item'

/** A figure that the finding cannot do without. @param {ExperimentDocument} document @param {string} label @param {string} name */
const figure = (document, label, name) => {
  const found = figureOf(document, label, name)
  if (found === null) throw new Error(`docs/data/${document.id}.ndjson has no ${name} of ${label}`)
  return found
}

/** With a mark where some of the row's runs are not valid. @param {ExperimentDocument} document @param {string} label @param {string} words */
const marked = ({ rows }, label, words) =>
  words + (isInvalid(rows.find((row) => row.label === label)) ? ' †' : '')

/** @type {readonly Question[]} */
const questions = Object.freeze([
  {
    id: 'membership-large',
    question: 'Is this id known?',
    page: 'docs/studies/membership.md',
    finding: (document) => {
      const of = (/** @type {string} */ label) => {
        const row = `${label} (Redis 8.2)`
        return marked(document, row, bytes(figure(document, row, memory)))
      }
      return `10 million ids take ${of('flat')} each as keys, ${of('hash 2^17')} in 2^17 hashes, ${of('Bloom filter, 1 in a million')} in a Bloom filter`
    },
  },
  {
    id: 'counters',
    question: 'One call per increment, or many in one?',
    page: 'docs/studies/counters.md',
    finding: (document) => {
      const of = (/** @type {string} */ label) =>
        marked(document, label, micros((timeOf(document, label) ?? 0) * 1000))
      return `with a round trip of 5 ms, 50,992 increments take ${of('loop, 5 ms')} one by one, and ${of('pipeline of 10,000, 5 ms')} in pipelines of 10,000`
    },
  },
  {
    id: 'queries',
    question: 'What does a filter query cost?',
    page: 'docs/studies/queries.md',
    finding: (document) => {
      const of = (/** @type {string} */ label) => {
        const row = `${label}, 3 clients`
        return marked(document, row, micros(figure(document, row, 'queries.avg')))
      }
      return `over 100,000 documents, ${of('scan')} by a script that looks at all, ${of('search')} by RediSearch`
    },
  },
  {
    id: 'lookups',
    question: 'How many GETs does one server answer?',
    page: 'docs/studies/lookups.md',
    finding: (document) => {
      const of = (/** @type {string} */ label) =>
        marked(document, label, count(Math.round(figure(document, label, 'rate.achieved') / 1000) * 1000))
      return `${of('50 x 10')} a second over 50 connections with ten in flight on each, ${of('4 x 1000')} over four with 1,000`
    },
  },
  {
    id: 'queues',
    question: 'How many workers drain my queue?',
    page: 'docs/studies/queue-workers.md',
    finding: (document) => {
      const of = (/** @type {number} */ jobs) => workersNeeded(document, 'take 10, sleep 2 ms', jobs).workers
      return `with 2 ms of waiting in each job, 5,000 jobs a second need ${of(5000)} workers, and 30,000 a second need ${of(30_000)}`
    },
  },
  {
    id: 'resilience',
    question: 'What do small shards change?',
    page: 'docs/studies/lookups.md#resilience',
    finding: (document) => {
      const of = (/** @type {string} */ label) =>
        marked(document, label, micros(figure(document, label, 'snapshot.load.longest_ms') * 1000))
      return `one server reloads 500 MB in ${of('1 server')}; with eight shards, each reloads its part in ${of('8 shards')}`
    },
  },
])

/** @param {Map<string, ExperimentDocument>} experiments */
export const questionsPart = (experiments) => {
  const rows = questions.flatMap(({ id, question, page, finding }) => {
    const document = experiments.get(id)
    return document ? [[question, finding(document), `[${page.replace(/^.*\/|\.md.*$/g, '')}](${page})`]] : []
  })
  const isMarked = rows.some(([, found]) => found.includes('†'))
  return [
    table(['question', 'measured', 'study'], rows),
    ...(isMarked ? ['', invalidNote('docs/reference/results.md')] : []),
  ].join('\n')
}
