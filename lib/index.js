// The programmatic entry: `run(options) -> result` and servers to run it on. Types are in index.d.ts, options in
// docs/reference/options.md.

export { MillraceError, OptionError } from './base/errors.js'
export { run, startLocalServers } from './cli/run-here.js'
