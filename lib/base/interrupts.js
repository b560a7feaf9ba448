// Work before and after the load can be interrupted at any moment, even while a server does not answer.
import { InterruptedError } from './errors.js'

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

/**
 * Like unlessInterrupted; a resource that opens after the interrupt is closed.
 * @template T
 * @param {AbortSignal} signal
 * @param {Promise<T>} opening
 * @param {(opened: T) => unknown} close
 * @returns {Promise<T>}
 */
export const openedUnless = (signal, opening, close) =>
  unlessInterrupted(signal, opening).catch((error) => {
    opening.then(close).catch(() => {})
    throw error
  })

// Time in which a server that works has answered.
const graceMs = 100

/**
 * The promise's value; or the other value, a moment after stopNow.
 * @template T
 * @param {AbortSignal} signal
 * @param {Promise<T>} promise
 * @param {T} otherwise
 * @returns {Promise<T>}
 */
export const untilStopped = (signal, promise, otherwise) =>
  new Promise((resolve, reject) => {
    const stop = () => setTimeout(resolve, graceMs, otherwise)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
