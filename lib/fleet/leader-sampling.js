// What one box of a fleet does for all, while it leads: it samples the nodes, and takes the measures that one box takes for all.

/**
 * @typedef {ReturnType<typeof import('../measure/node-sampler.js').nodeSampler>} Sampler
 * @typedef {import('../measures/measure.js').Source} Source
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
 * Measures while this box leads.
 * @param {Source} source
 * @param {Leading} fleet
 * @returns {Source}
 */
export const ledSource = (source, { leads, onLead }) => {
  let isStarted = false
  const start = async () => {
    if (isStarted || !leads()) return
    isStarted = true
    await source.start?.()
  }
  onLead(start)
  return {
    ...source,
    start,
    second: () => (isStarted ? source.second() : {}),
    stop: async () => {
      if (isStarted) await source.stop?.()
    },
  }
}
