// What a box says of itself, to all that look at the run.
import { availableParallelism, hostname } from 'node:os'

/**
 * @param {{ kind: 'producer' | 'consumer', version: string }} about version of Millrace
 * @param {string} id
 * @param {{ offsetMs: () => number, uncertaintyMs: () => number }} clock
 */
export const cardOf = ({ kind, version }, id, clock) => {
  /** @type {readonly number[]} */
  let agents = []
  let ready = false
  let shown = { offset_ms: 0, uncertainty_ms: 0 }
  return {
    measured() {
      const [offset, uncertainty] = [clock.offsetMs(), clock.uncertaintyMs()]
      shown = { offset_ms: Number(offset.toFixed(3)), uncertainty_ms: Number(uncertainty.toFixed(3)) }
    },
    /** @param {readonly number[]} numbers */
    named(numbers) {
      agents = numbers
    },
    ready() {
      ready = true
    },
    agents: () => agents,
    text: () =>
      JSON.stringify({
        ...{ id, kind, agents, host: hostname(), pid: process.pid, version },
        ...{ cores: availableParallelism(), ...shown, ready },
      }),
  }
}

/** @typedef {ReturnType<typeof cardOf>} OwnCard */
