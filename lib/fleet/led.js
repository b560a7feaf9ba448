// What one box of a fleet does for all, while it leads: it samples the nodes, and it pings them as a bystander.

/**
 * @typedef {ReturnType<typeof import('../measure/node-sampler.js').nodeSampler>} Sampler
 * @typedef {ReturnType<typeof import('../measure/bystander-thread.js').bystanderThread>} Probe
 * @typedef {{ leads: () => boolean, onLead: (step: () => unknown) => void, control: { checkpoint: () => Promise<string | null> } }} Leading
 */

/**
 * Asks the nodes while this box leads; the next leader goes on with the same window.
 * @param {Sampler} sampler
 * @param {Leading} fleet
 * @returns {Sampler}
 */
export const ledSampler = (sampler, { leads, onLead, control }) => {
  onLead(async () => {
    const text = await control.checkpoint().catch(() => null)
    const state = text === null ? null : JSON.parse(text).sampler?.state
    if (state) sampler.restore(state)
  })
  return {
    ...sampler,
    sample: async () => (leads() ? sampler.sample() : []),
    mark: async () => (leads() ? sampler.mark() : []),
  }
}

/**
 * Pings while this box leads.
 * @param {Probe} probe
 * @param {Leading} fleet
 * @returns {Probe}
 */
export const ledProbe = (probe, { leads, onLead }) => {
  let isStarted = false
  const start = async () => {
    if (isStarted || !leads()) return
    isStarted = true
    await probe.start()
  }
  onLead(start)
  return {
    ...probe,
    start,
    collect: () => {
      if (isStarted) probe.collect()
    },
    stop: async () => {
      if (isStarted) await probe.stop()
    },
  }
}
