// What a command does when it is interrupted.
import { exactly } from '../base/typed.js'

/**
 * @import { Redactor } from '../base/redact.js'
 * @import { Signals } from '../base/settlement.js'
 */
/** @typedef {Signals & { redact: Redactor }} Guidance */

/** At the first interrupt the run settles, at the second it ends at once. */
export const interruptsOfRun = () => {
  const stop = new AbortController()
  const stopNow = new AbortController()
  const interrupt = () => {
    if (stop.signal.aborted) stopNow.abort()
    stop.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  // A closed terminal sends it once.
  process.on('SIGHUP', interrupt)
  return { stop: stop.signal, stopNow: stopNow.signal }
}

/** Ctrl-C ends the runs in order; what is done is kept. */
export const interruptsOfSeries = () => {
  const stop = new AbortController()
  for (const signal of exactly(['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => {
      if (!stop.signal.aborted) process.stderr.write('stopping: the run under way is not counted\n')
      stop.abort()
    })
  return stop.signal
}
