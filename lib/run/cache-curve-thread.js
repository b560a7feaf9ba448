// The thread in which a miss ratio curve is computed: it takes seconds, in which the run's process answers.
import { parentPort, workerData } from 'node:worker_threads'
import { curveOf } from './cache-curve.js'

parentPort?.postMessage(curveOf(workerData))
