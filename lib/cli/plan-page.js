// A plan as a page that needs nothing else.
import { writeFile } from 'node:fs/promises'
import { planCost, planProof } from '../../charts/plan.js'
import { nextWords, plannedLoadWords, proofWords } from '../answers/plan/text.js'
import { OptionError } from '../base/errors.js'
import { count, micros, percent, rate as perSecond, plainText, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { pageOf } from '../report/page/page.js'

/**
 * @import { Calibration } from '../result/plan-schemas.js'
 * @import { PlanAnswer } from '../answers/plan/answer.js'
 * @import { Table } from '../report/sections.js'
 */

/** @param {string} text @param {number | string | null} [sort] */
const cell = (text, sort) => ({ text, ...(sort !== undefined && { sort }) })

/** @param {PlanAnswer} answer @returns {Table[]} */
const tablesOf = ({ models, currency, asked }) =>
  models.map(({ strategy, best, candidates, proof }) => ({
    title: plainText(strategy),
    note: `${best === null ? `No node: ${candidates[0].why}; ` : ''}${proofWords(proof)}.`,
    columns: [
      { title: 'node', left: true },
      ...['shards', 'nodes', 'main thread', 'memory', 'network', `${currency} a month`].map((title) => ({
        title,
      })),
      { title: 'binds', left: true },
      ...(asked.growth > 0 ? [{ title: 'next size', left: true }] : []),
    ],
    rows: candidates.map(({ node, shards, nodes, used, monthly, binds, next }) => [
      cell(plainText(node)),
      cell(shards === null ? 'none' : count(shards), shards),
      cell(count(nodes), nodes),
      ...[used['main thread'], used.memory, used.network].map((part) =>
        cell(part === undefined ? '' : percent(100 * part), part ?? null),
      ),
      cell(monthly === null ? '' : monthly.toFixed(2), monthly),
      cell(binds),
      ...(asked.growth > 0 ? [cell(nextWords(next), next?.months ?? null)] : []),
    ]),
  }))

/** @param {PlanAnswer} answer @param {Calibration} calibration @param {string} path */
export const writePlanPage = async (answer, calibration, path) => {
  const { models, asked, currency, region, prices, warnings } = answer
  const [{ best, strategy }] = models
  const things = asked.value_bytes === null ? 'operations' : 'items'
  const sections = {
    title: `Plan for ${perSecond(asked.rate)} ${things}/s`,
    question: `${plannedLoadWords(asked)}; ${percent(asked.headroom * 100)} headroom, ${several(asked.replicas, 'replica')} per shard; ${region}, ${currency}.`,
    verdict: {
      good: best !== null,
      neutral: true,
      word: best === null ? 'None of these nodes' : `${best.nodes} x ${best.node}`,
      sentence:
        best === null
          ? 'no candidate keeps all limits.'
          : `${plainText(strategy)} is the cheapest${best.monthly === null ? '' : `, ${currency} ${best.monthly.toFixed(2)} a month`}.`,
    },
    highlights: models.map((model) => ({
      label: plainText(model.strategy),
      text: `${micros(model.per_item.cpu_us.value)} an ${things.slice(0, -1)}`,
    })),
    facts: prices.map(({ what, dated, source }) => ({
      label: `prices of ${what}`,
      text: `${dated}, ${plainText(source)}`,
    })),
    tables: tablesOf(answer),
    warnings: [
      ...warnings,
      ...models.flatMap((model) =>
        model.outside.map((line) => `${model.strategy}: outside the calibrated range: ${line}`),
      ),
    ].map((text) => ({ text: plainText(text), serious: false })),
  }
  const pictures = [
    { ...planCost, option: planCost.option(answer) },
    { ...planProof, option: planProof.option(calibration) },
  ].flatMap(({ option, ...named }) => (option ? [{ ...named, option, wide: true }] : []))
  await writeFile(path, await pageOf(sections, pictures, millraceVersion())).catch((cause) => {
    throw new OptionError(`--draw ${plainText(path)} cannot be written (${cause.code})`, { cause })
  })
}
