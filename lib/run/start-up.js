// What comes before the load can be interrupted at any moment, whatever a server keeps us waiting for.
import { InterruptedError } from '../errors.js'

/**
 * The promise's value, or an InterruptedError as soon as the signal says so.
 * @template T
 * @param {AbortSignal} signal
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export const unlessInterrupted = (signal, promise) =>
  new Promise((resolve, reject) => {
    const interrupt = () => reject(new InterruptedError())
    if (signal.aborted) interrupt()
    signal.addEventListener('abort', interrupt)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', interrupt))
  })
