// What must hold after every play of clients, whatever went wrong in it. Each returns what is broken, in words.
import { lossy } from './faults.js'

/** @typedef {import('./play-clients.js').PlayedClients} PlayedClients */

// ASKING before a command.
const askingBytes = 16

/** Every operation is counted exactly once. @param {PlayedClients} played */
const accounting = ({ ledger, drawn, recorded, whole: settled }) => {
  const problems = [...recorded.problems]
  const { whole, measured } = ledger
  if (!ledger.isBalanced()) problems.push(`the ledger is not balanced: ${JSON.stringify(ledger)}`)
  if (whole.offered < drawn || whole.offered - drawn > whole.dropped)
    problems.push(
      `${whole.offered} operations are offered, ${drawn} were drawn, ${whole.dropped} are dropped`,
    )
  if (recorded.operations !== measured.acked)
    problems.push(`${recorded.operations} latencies of ${measured.acked} operations`)
  const { offered, ...outcomes } = measured
  const known = Object.values(outcomes).reduce((sum, n) => sum + n, 0)
  if (known !== offered) problems.push(`${offered} operations are measured, and ${known} outcomes of them`)
  if (settled && whole.unsettled > 0) problems.push(`it is settled, and ${whole.unsettled} are not`)
  return problems
}

/** Nothing counts as done that was not executed. @param {PlayedClients} played */
const execution = ({ ledger, executed, drawn, isOdd, scene, tally }) => {
  const problems = /** @type {string[]} */ ([])
  const { acked, uncertain, unsettled } = ledger.whole
  const done = new Set(executed)
  if (acked > done.size) problems.push(`${acked} are acked, and ${done.size} were executed`)
  for (const n of done) if (!(n >= 1 && n <= drawn)) problems.push(`${n} was executed, and never drawn`)
  if (!scene.repeatable) {
    if (executed.length > done.size)
      problems.push(`${executed.length - done.size} were executed again, and must not be repeated`)
    if (done.size > acked + uncertain + unsettled)
      problems.push(`${done.size} were executed, and ${acked + uncertain + unsettled} may have been`)
  }
  const odd = Array.from({ length: drawn }, (_, i) => i + 1).filter(isOdd).length
  const refused = ledger.failedBy.WRONGTYPE ?? 0
  if (refused > odd) problems.push(`${refused} were refused for their type, and ${odd} could be`)
  if (acked > drawn - odd) problems.push(`${acked} are acked of ${drawn - odd} that can be`)
  const nil = executed.filter((n) => n % 10 === 7).length
  if (tally.nil > nil) problems.push(`${tally.nil} misses were counted, and ${nil} were answered`)
  return problems
}

/** @param {PlayedClients} played */
const bounds = ({ scene, most, mostOpenOperations, mostWaiting, mostOpen, mostUnanswered, leftOpen }) => {
  const problems = /** @type {string[]} */ ([])
  const { clients, pipeline } = scene
  if (mostOpenOperations > clients * pipeline)
    problems.push(`${mostOpenOperations} operations were in flight of ${clients} x ${pipeline}`)
  if (mostUnanswered > 2 * pipeline * (most + askingBytes))
    problems.push(`${mostUnanswered} bytes were unanswered on a connection`)
  if (mostWaiting > 2 * clients * pipeline * (most + askingBytes)) problems.push(`${mostWaiting} bytes wait`)
  // One more looks whether a silent server answers.
  if (mostOpen > clients + 1)
    problems.push(`${mostOpen} connections to one address at once, of ${clients} clients`)
  if (leftOpen > 0) problems.push(`${leftOpen} connections are left open`)
  return problems
}

/** When all is well again nothing is lost; and what need lose nothing loses nothing. @param {PlayedClients} played */
const recovery = ({ scene, ledger, whole, lostAfter, faults, drawn, isOdd }) => {
  if (scene.isCutShort) return []
  if (!whole) return ['it did not settle']
  const problems = /** @type {string[]} */ ([])
  if (lostAfter > 0) problems.push(`${lostAfter} operations are lost, and all was well again`)
  const harmless = faults.every(({ kind }) => !lossy.has(kind)) && scene.maxBehindMs >= 3000
  const { acked, uncertain } = ledger.whole
  const odd = Array.from({ length: drawn }, (_, i) => i + 1).filter(isOdd).length
  if (harmless && acked + odd + (scene.repeatable ? 0 : uncertain) < ledger.whole.offered)
    problems.push(`lost to what need lose none: ${JSON.stringify([ledger.whole, ledger.failedBy])}`)
  return problems
}

/** @param {PlayedClients} played @returns {string[]} */
export const brokenInClients = (played) =>
  [accounting, execution, bounds, recovery].flatMap((property) => property(played).slice(0, 3))
