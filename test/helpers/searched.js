// A search as a user starts it, and its find.json.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { testEnvironment } from '../../scripts/test.js'
import { ownFolder } from './programs.js'

const program = fileURLToPath(new URL('../../lib/cli/millrace.js', import.meta.url))

/** @param {import('./servers.js').Scope} t @param {readonly string[]} words @param {Record<string, string>} [env] */
export const searched = async (t, words, env = {}) => {
  const child = spawn(
    process.execPath,
    [program, 'find', ...words, '--json', '--log-level', 'error', '--out', ownFolder(t, 'found')],
    {
      env: { ...testEnvironment(process.env), XDG_RUNTIME_DIR: ownFolder(t, 'runtime'), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.after(() => child.kill('SIGKILL'))
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, answer: JSON.parse(stdout) }
}
