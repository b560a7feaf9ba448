// The loads of the engine's benchmark: each completes operations over sockets in memory.
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const script = new URL('../../scripts/bench/engine-loads.js', import.meta.url)

test('each load of the engine’s benchmark completes operations', async () => {
  const each = `import { loads } from '${script}'
for (const begin of Object.values(loads)) {
  const done = await begin()
  while (done() === 0) await new Promise((resolve) => setTimeout(resolve, 1))
}
process.exit()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', each], { timeout: 30_000 })
})
