// The node of a run that works hardest.

/** @import { NodeFigures } from './document.js' */

/**
 * By its main thread; undefined where there are no such nodes.
 * @param {{ nodes: NodeFigures[] }} run
 * @param {readonly string[]} [roles]
 */
export const busiestNode = ({ nodes }, roles = ['master', 'replica']) =>
  nodes
    .filter(({ role }) => roles.includes(role))
    .toSorted((a, b) => (b.engine_cpu_pct ?? -1) - (a.engine_cpu_pct ?? -1))
    .at(0)
