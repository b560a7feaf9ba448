// What belongs together on a page: the titles under which charts and tables are folded away.
export const FOLDS = Object.freeze({
  latency: 'Latency',
  cost: 'Cost',
  nodes: 'Nodes',
  metrics: 'Metrics',
})
