// `millrace compare` as a user and as CI start it.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ExitCode } from '../../lib/base/errors.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { compare } from '../../lib/compare/report.js'
import { testEnvironment } from '../../scripts/test.js'
import { runCommand } from '../helpers/command-here.js'
import { oddIn, ownFolder, startOther } from '../helpers/programs.js'

const file = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** The block of the page that is marked. @param {string} mark */
const shellStep = (mark) => {
  const page = readFileSync(file('docs/reports.md'), 'utf8')
  const [, script] = new RegExp(`<!-- shell: ${mark} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  assert.ok(script, mark)
  return script
}

test("the page's shell step compares two models in an empty folder", async (t) => {
  const own = ownFolder(t, 'compare')
  // What `npx millrace` starts in a clone.
  const bin = join(own, 'npx')
  writeFileSync(bin, `#!/bin/sh\nshift\nexec "${process.execPath}" "${file('lib/cli/millrace.js')}" "$@"\n`, {
    mode: 0o755,
  })
  const summary = join(own, 'summary.md')
  const env = {
    ...{ ...testEnvironment(process.env), PATH: `${own}:${process.env.PATH}`, XDG_RUNTIME_DIR: own },
    ...{ ROUNDS: '2', MEASURED: '1', QUANTITY: '500', GITHUB_STEP_SUMMARY: summary },
  }
  const { code, ...texts } = await startOther(t, 'sh', ['-c', shellStep('any CI')], { cwd: own, env }).ended
  assert.match(texts.stderr, /\[4\/4\] .* 0 s left/, `${code}: ${texts.stderr}`)
  assert.match(texts.stdout, /threshold (passed|cannot tell): server\.memory_bytes_per_item<\+5%/)
  assert.match(
    texts.stdout,
    /^(list is (better|worse) than sorted-set|list and sorted-set do not differ|Cannot tell whether list is better or worse than sorted-set|These runs cannot)/,
  )

  const [name] = readdirSync(join(own, 'millrace-results'))
  const folder = join(own, 'millrace-results', name)
  const files = 'compare.html compare.json summary.md junit.xml benchmark-smaller.json charts/changes.svg'
  for (const each of files.split(' ')) assert.ok(existsSync(join(folder, each)), each)
  const document = JSON.parse(readFileSync(join(folder, 'compare.json'), 'utf8'))
  assert.equal(faultIn(document, compare.schema), null)
  // A list takes less memory; CPU of two short rounds may come to anything but a failure of the program, and rounds on a
  // machine that stood still are not valid.
  const [, reasons = ''] = /rounds not valid \(([^)]*)\)/.exec(JSON.stringify(document)) ?? []
  const codes = reasons.split(', ').filter(Boolean)
  assert.deepEqual(oddIn({ warnings: codes.map((name) => ({ code: name, invalidates: true })) }), [])
  assert.ok((codes.length > 0 ? [0, 4, 99] : [0, 99]).includes(Number(code)), `${code}: ${texts.stderr}`)
  assert.equal(document.design, 'paired')
  assert.deepEqual(document.settings, [{ name: 'strategy', baseline: ['sorted-set'], other: ['list'] }])
  // AB, then BA, or the other way round.
  assert.notEqual(document.rounds[0].runs[0].side, document.rounds[1].runs[0].side)
  assert.match(readFileSync(summary, 'utf8'), /list against sorted/)
})

test('a side has its own server configuration, and --dry-run says how long it takes', async (t) => {
  const lines = [
    'default config.appendonly=yes --dry-run --until-sure -- -q 500',
    'sorted-set list stream set -q 500 --dry-run --rounds 4',
  ]
  const [dry, many] = await Promise.all(lines.map((line) => runCommand(t, `compare ${line}`, { out: false })))
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(
    dry.stdout,
    /^config\.appendonly=yes against default\. 2 cells, 20 rounds: about [\dhmins ]+, fewer .* \(it looks after 6, 8, .*20\)\n$/,
  )
  assert.match(many.stdout, /^list, stream, set against sorted-set\. 4 cells, 4 rounds: about \d+ (h|min)/)
})

test('an earlier comparison that was refused before its first run is not mentioned; one with a run is', async (t) => {
  const out = ownFolder(t, 'earlier')
  const line = `compare list set -q 500 --rounds 2 --url redis://127.0.0.1:1 --out ${out}`
  const refused = async () => {
    const { code, stderr } = await runCommand(t, line, { out: false })
    assert.equal(code, ExitCode.target, stderr)
    assert.match(stderr, /nothing listens there/)
    return /starting over.*/.exec(stderr)?.[0] ?? ''
  }
  assert.equal(await refused(), '')
  assert.equal(await refused(), '')
  const [first] = readdirSync(out).sort()
  writeFileSync(join(out, first, 'turns.ndjson'), `${JSON.stringify({ cell: 'a', round: 1, legs: [{}] })}\n`)
  const said = `starting over: the rounds of 1 earlier comparison of these sides in ${out} do not count`
  assert.equal(await refused(), said)
})
