// Dependencies with a known advisory of level high or above are an error; a registry that does not answer is not:
// node scripts/audit.js
import { spawnSync } from 'node:child_process'

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', timeout: 60_000 })

/** @returns {{ high: number, critical: number } | null} null: nobody answered */
const found = () => {
  try {
    const { high, critical } = JSON.parse(stdout).metadata.vulnerabilities
    return { high, critical }
  } catch {
    return null
  }
}

const counts = found()
if (counts === null) process.stdout.write('audit: the registry did not answer, nothing was checked\n')
else if (counts.high + counts.critical === 0)
  process.stdout.write('audit: no advisory of level high or above\n')
else {
  process.stdout.write(`audit: ${counts.high} high, ${counts.critical} critical; see npm audit\n`)
  process.exitCode = 1
}
