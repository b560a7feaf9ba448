// The commands of `millrace`. Each is a program: its module runs when it is loaded.

/** @type {Record<string, { what: string, load: () => Promise<unknown> }>} */
export const commands = {
  write: { what: 'writes items, and reports what that cost', load: () => import('../../producer.js') },
  read: {
    what: 'reads the latest items, and reports how fast and how fresh',
    load: () => import('../../consumer.js'),
  },
  demo: { what: 'fifteen seconds on a local cluster', load: () => import('../../scripts/demo.js') },
  experiment: {
    what: 'runs a published experiment, or one of your own',
    load: () => import('../../scripts/experiment.js'),
  },
  compare: {
    what: 'runs two sides in turn, and says what differs and how sure that is',
    load: () => import('./compare.js'),
  },
  diff: { what: 'compares finished runs or experiments', load: () => import('../../scripts/compare.js') },
  staff: { what: 'compares one large node with many small ones', load: () => import('./staff.js') },
  report: {
    what: 'writes the page and the charts of finished results',
    load: () => import('../../scripts/report.js'),
  },
  cloudwatch: {
    what: 'adds the metrics of CloudWatch to finished results',
    load: () => import('../../scripts/cloudwatch.js'),
  },
  verify: {
    what: 'checks that every acknowledged item is still there',
    load: () => import('../../scripts/verify.js'),
  },
  reshard: { what: 'changes a cluster while it serves', load: () => import('../../scripts/reshard.js') },
  cleanup: { what: 'removes what runs left on a target', load: () => import('../../scripts/cleanup.js') },
}
