// Whether a tag may be released, and its notes: node scripts/release.js v0.1.0
// The tag is the version of package.json, and CHANGELOG.md has a dated part about it.
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ExitCode } from '../lib/base/errors.js'
import { millraceVersion } from '../lib/base/version.js'

/**
 * @param {{ tag: string, version: string, changelog: string }} release
 * @returns {{ notes: string } | { refusal: string }}
 */
export const releaseOf = ({ tag, version, changelog }) => {
  if (tag !== `v${version}`) return { refusal: `the tag is ${tag}, the version in package.json ${version}` }
  const part = changelog
    .split(/^## /m)
    .slice(1)
    .find((one) => one.startsWith(`${version} `))
  if (!part) return { refusal: `CHANGELOG.md has no part ## ${version} (date)` }
  const [heading, ...lines] = part.split('\n')
  if (!/^\S+ \(\d{4}-\d\d-\d\d\)$/.test(heading))
    return { refusal: `CHANGELOG.md: '## ${heading}' should be '## ${version} (date)'` }
  const notes = lines.join('\n').trim()
  return notes ? { notes } : { refusal: `CHANGELOG.md: nothing is below '## ${heading}'` }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
  const found = releaseOf({ tag: process.argv[2] ?? '', version: millraceVersion(), changelog })
  if ('notes' in found) process.stdout.write(`${found.notes}\n`)
  else {
    process.stderr.write(`${found.refusal}\n`)
    process.exitCode = ExitCode.options
  }
}
