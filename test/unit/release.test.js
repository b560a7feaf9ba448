import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { releaseOf } from '../../scripts/release.js'

const text = (/** @type {string} */ name) =>
  readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8')
const changelog = '# Changelog\n\n## 0.2.0 (2026-12-01)\n\n- New.\n\n## 0.1.0 (not released)\n\n- First.\n'

test('the notes of a release are the part of the changelog about its tag', () => {
  assert.deepEqual(releaseOf({ tag: 'v0.2.0', version: '0.2.0', changelog }), { notes: '- New.' })
  const later = `${changelog}\n## 0.0.1 (2026-01-01)\n`
  for (const [tag, version, words] of [
    ['v0.2.1', '0.2.0', /the tag is v0\.2\.1, the version in package\.json 0\.2\.0/],
    ['0.2.0', '0.2.0', /the tag is 0\.2\.0/],
    ['v0.3.0', '0.3.0', /no part ## 0\.3\.0/],
    ['v0.1.0', '0.1.0', /'## 0\.1\.0 \(not released\)' should be/],
    ['v0.0.1', '0.0.1', /nothing is below/],
  ]) {
    const found = releaseOf({ tag: String(tag), version: String(version), changelog: later })
    assert.match('refusal' in found ? found.refusal : '', /** @type {RegExp} */ (words))
  }
})

test('CHANGELOG.md begins with the version of package.json', () => {
  const { version } = JSON.parse(text('package.json'))
  assert.equal(/^## (\S+) \(/m.exec(text('CHANGELOG.md'))?.[1], version)
})

test('the release workflow: one file is tested, packed and published, by a job that holds no other right', () => {
  const { on, permissions, jobs } = parse(text('.github/workflows/release.yml'))
  assert.deepEqual([on, permissions], [{ push: { tags: ['v*'] } }, {}])
  assert.deepEqual(
    Object.values(jobs).map(({ needs, permissions: own }) => [needs, own]),
    [
      [undefined, { contents: 'read' }],
      ['pack', { 'id-token': 'write' }],
      ['publish', { contents: 'write' }],
    ],
  )
  const lines = (/** @type {any} */ { steps }) => steps.flatMap((/** @type {any} */ { run }) => run ?? [])
  assert.match(lines(jobs.pack)[0], /^node scripts\/release\.js "\$GITHUB_REF_NAME" > notes\.md$/)
  assert.equal(lines(jobs.pack)[1], 'npm test')
  assert.deepEqual(lines(jobs.publish), ['npm publish ./millrace-*.tgz --provenance --access public'])
  // Trusted publishing needs npm 11.5, which comes with this Node.
  for (const { uses, with: given } of Object.values(jobs).flatMap(({ steps }) => steps))
    if (uses?.startsWith('actions/setup-node@')) assert.ok(given['node-version'] >= 24)
})
