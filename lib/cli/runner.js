// What commands that run many programs have in common.

/** No target and no option of the caller. @param {NodeJS.ProcessEnv} env @returns {NodeJS.ProcessEnv} */
export const programsEnv = (env) => ({
  ...Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(REDIS|VALKEY|MILLRACE)_|^SORTED_SET_/.test(name)),
  ),
  MILLRACE_NO_DOTENV: '1',
})

/** Ctrl-C ends the runs in order; what is done is kept. */
export const interrupts = () => {
  const stop = new AbortController()
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => {
      if (!stop.signal.aborted) process.stderr.write('stopping: the run under way is not counted\n')
      stop.abort()
    })
  return stop.signal
}
