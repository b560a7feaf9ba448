// How a thread ends.
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'

// Node 20 forgets a thread before V8 has stopped compiling for it, and where the compiler then wants memory to be cleared, the
// whole process aborts ('Assertion failed: (data.first) != nullptr'). Later V8s do not ask Node there.
const isAtRisk = Number.parseInt(process.versions.node, 10) < 22

/** Waits until V8 compiles nothing more for this thread, some milliseconds at most; call it when the thread has nothing more to do. */
export const untilCompiled = () => {
  if (!isAtRisk) return
  setFlagsFromString('--allow-natives-syntax')
  runInThisContext('%FinalizeOptimization()')
}

/** @param {import('node:worker_threads').MessagePort | null} port of the parent; nothing else may keep the thread */
export const endThread = (port) => {
  untilCompiled()
  port?.close()
}
