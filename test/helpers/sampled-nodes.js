// A sampler with what the measure of nodes makes of its samples.
import { foldOf } from '../../lib/measures/fold.js'
import { nodes, nodesIn, nodeTotals } from '../../lib/measures/nodes.js'

/** @param {ReturnType<typeof import('../../lib/probes/node-sampler.js').nodeSampler>} sampler */
export const withSums = (sampler) => {
  const source = /** @type {any} */ (nodes.open(/** @type {any} */ ({ sampler })))
  const whole = foldOf(nodes.record)
  let window = foldOf(nodes.record)
  return {
    ...sampler,
    /** @returns {ReturnType<typeof sampler.sample>} */
    async sample() {
      const line = await source.sample()
      for (const fold of [whole, window]) fold.add(JSON.parse(JSON.stringify(line)))
      return line.nodes
    },
    /** @returns {ReturnType<typeof sampler.mark>} */
    async mark() {
      const rows = await source.startWindow()
      window = foldOf(nodes.record)
      return rows
    },
    summary: () => ({
      nodes: nodesIn(window.sum.nodes),
      totals: { ...nodeTotals(window.sum, whole.sum), data_bytes: sampler.lastStoredData().dataBytes },
    }),
  }
}
