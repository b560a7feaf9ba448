// A reporter of node's test runner: a line for each file when it ends, with its time and the CPU that it and its programs
// took. The runner's own lines come in the order of the files, so that a slow one delays all others.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** CPU seconds of this process's children that have ended; null: not on Linux. */
const childrenCpuS = () => {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const [userTicks, systemTicks] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13)
    return (Number(userTicks) + Number(systemTicks)) / 100
  } catch {
    return null
  }
}

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* progress(events) {
  let files = 0
  let ended = 0
  let before = childrenCpuS()
  for await (const { type, data } of events) {
    if (data.nesting !== 0 || data.name !== data.file) continue
    if (type === 'test:enqueue') files++
    if (type !== 'test:complete') continue
    const seconds = (data.details.duration_ms / 1000).toFixed(1)
    const now = childrenCpuS()
    const cpu = now === null || before === null ? '' : `, CPU ${(now - before).toFixed(1)} s`
    before = now
    yield `${++ended} of ${files}: ${relative('', data.file)}, ${seconds} s${cpu}\n`
  }
}
