// Dependencies with a known advisory of level high or above are an error; so is, in CI, a registry that cannot be reached:
// node scripts/audit.js
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ExitCode } from '../lib/base/errors.js'

// A mirror that has no advisories says so, and would say so every time.
const withoutAudits = [404, 405, 501]

/** @returns {any} null: npm said nothing that can be read */
const answer = () => {
  const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', timeout: 60_000 })
  try {
    return JSON.parse(stdout)
  } catch {
    return null
  }
}

/** @param {any} found @param {boolean} inCi @returns {{ line: string, code: number }} */
export const auditVerdict = (found, inCi) => {
  const { high, critical } = found?.metadata?.vulnerabilities ?? {}
  if (typeof high === 'number' && typeof critical === 'number') {
    if (high + critical === 0) return { line: 'no advisory of level high or above', code: ExitCode.done }
    return { line: `${high} high, ${critical} critical; see npm audit`, code: ExitCode.fault }
  }
  if (withoutAudits.includes(found?.statusCode))
    return { line: 'this registry has no advisories to ask for, nothing was checked', code: ExitCode.done }
  // What was not checked must not pass for checked; at home the next time will do.
  const code = inCi ? ExitCode.fault : ExitCode.done
  return { line: 'the registry cannot be reached, nothing was checked', code }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { line, code } = auditVerdict(answer(), process.env.CI === 'true')
  process.stdout.write(`audit: ${line}\n`)
  process.exitCode = code
}
