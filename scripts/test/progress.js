// A reporter of node's test runner: a line for each file when it ends, with its time. The runner's own lines come in the
// order of the files, so that a slow one delays all others.
import { relative } from 'node:path'

/** @param {AsyncIterable<{ type: string, data: any }>} events */
export default async function* progress(events) {
  let files = 0
  let ended = 0
  for await (const { type, data } of events) {
    if (data.nesting !== 0 || data.name !== data.file) continue
    if (type === 'test:enqueue') files++
    if (type !== 'test:complete') continue
    const seconds = (data.details.duration_ms / 1000).toFixed(1)
    yield `${++ended} of ${files}: ${relative('', data.file)}, ${seconds} s\n`
  }
}
