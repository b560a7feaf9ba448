import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { millraceVersion } from '../../lib/base/version.js'
import { releaseOf } from '../../scripts/release.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8')
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

test('CHANGELOG.md begins with the version of package.json, and another tag is refused', () => {
  const { version } = JSON.parse(text('package.json'))
  assert.equal(millraceVersion(), version)
  assert.equal(/^## (\S+) \(/m.exec(text('CHANGELOG.md'))?.[1], version)
  const args = ['scripts/release.js', 'v999.0.0']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  const found = [status, stdout, stderr]
  assert.deepEqual(found, [2, '', `the tag is v999.0.0, the version in package.json ${version}\n`])
})

test('the package has what its programs read, and nothing of the repository besides', () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  assert.ok(stdout, stderr)
  const [{ files }] = JSON.parse(stdout)
  const packed = new Set(files.map((/** @type {{ path: string }} */ { path }) => path))
  const { bin, exports, engines } = JSON.parse(text('package.json'))
  assert.deepEqual(bin, { millrace: 'lib/cli/millrace.js' })
  assert.match(text(bin.millrace), /^#!\/usr\/bin\/env node\n/)
  assert.equal(exports['./schemas/*'], './docs/schemas/*')
  assert.equal(engines.node, '>=20.19.0')
  for (const name of [
    ...[bin.millrace, ...Object.values(exports['.']).map((path) => path.slice('./'.length))],
    ...['producer.js', 'consumer.js', 'settings.js', 'charts/index.js', 'lua/release-lease.lua'],
    ...['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/reference/options.md', 'docs/schemas/run.schema.json'],
    ...['docs/examples/session-store.yaml', 'lib/report/page/browser/script.js'],
  ])
    assert.ok(packed.has(name), name)
  const foreign = /^(test|scripts|results|docs\/data|charts\/measured|\.github)\/|\.tgz$|tsconfig\.json$/
  const found = [...packed].filter((name) => foreign.test(name))
  assert.deepEqual(found, [])
})

test('the release workflow: one file is tested, packed and published, by a job that holds no other right', () => {
  const { on, permissions, jobs } = parse(text('.github/workflows/release.yml'))
  assert.deepEqual([on, permissions], [{ push: { tags: ['v*'] } }, {}])
  const found = Object.values(jobs).flatMap(({ needs, permissions: own }) => [needs, own])
  const [read, token, write] = [{ contents: 'read' }, { 'id-token': 'write' }, { contents: 'write' }]
  const wanted = [undefined, read, 'pack', token, 'publish', write]
  assert.deepEqual(found, wanted)
  const lines = (/** @type {any} */ { steps }) => steps.flatMap((/** @type {any} */ { run }) => run ?? [])
  assert.match(lines(jobs.pack)[0], /^node scripts\/release\.js "\$GITHUB_REF_NAME" > notes\.md$/)
  assert.equal(lines(jobs.pack)[1], 'npm test')
  assert.deepEqual(lines(jobs.publish), ['npm publish ./millrace-*.tgz --provenance --access public'])
  // Trusted publishing needs npm 11.5, which comes with this Node.
  for (const { uses, with: given } of Object.values(jobs).flatMap(({ steps }) => steps))
    if (uses?.startsWith('actions/setup-node@')) assert.ok(given['node-version'] >= 24)
})
