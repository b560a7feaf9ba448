// The leader's thread: to decode 200 boxes' histograms takes 0.1 s each second, which the sending thread does not have.
import { parentPort, workerData } from 'node:worker_threads'
import { endThread } from '../base/thread-end.js'
import { controlClient, controlOf } from './control.js'
import { leaderOf } from './lead.js'

const everyMs = 500

const { place, run, box, boxes } = workerData
let { data } = workerData
const client = controlClient(place, 'millrace-fleet-leader')
await client.connect().catch(() => {})
const leader = leaderOf({ control: controlOf(client, run), box, data: () => data, boxes: () => boxes })
let isEnding = false

const foldAndRepeat = async () => {
  // The control server is away, or another box leads: the next try notices.
  await leader.foldNew().catch(() => {})
  if (!isEnding) setTimeout(work, everyMs)
}
let work = () => {
  underWay = foldAndRepeat()
}
let underWay = foldAndRepeat()

parentPort?.on('message', async (message) => {
  if (message.data) data = message.data
  if (message.password) place.access.password = message.password
  if (!message.end) return
  isEnding = true
  work = () => {}
  await underWay
  leader.close()
  client.disconnect()
  parentPort?.postMessage('ended')
  endThread(parentPort)
})
