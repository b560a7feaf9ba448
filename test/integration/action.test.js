// The action for GitHub: linted, and its shell steps run as a runner does.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { testEnvironment } from '../../scripts/test.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.github/actions/compare')
const action = parse(readFileSync(join(folder, 'action.yml'), 'utf8'))
const remote = /OWNER\/millrace\/\.github\/actions\/compare@v\S+/

/** The workflow that the documentation shows. */
const shown = () => {
  const page = readFileSync(join(root, 'docs/reports.md'), 'utf8')
  const [, text] = /```yaml\n(name: cost\n[\s\S]*?)```/.exec(page) ?? []
  assert.ok(text)
  return text
}

/** @param {string} program @param {string[]} args @param {string} cwd @param {NodeJS.ProcessEnv} [env] */
const ran = (program, args, cwd, env = {}) => {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...testEnvironment(process.env), NODE_V8_COVERAGE: undefined, NO_COLOR: '1', ...env },
  })
  return { status, stdout, stderr }
}

test('zizmor and actionlint find nothing in the action and in workflows', (t) => {
  const zizmor = peer(t, 'zizmor')
  const actionlint = zizmor && peer(t, 'actionlint')
  if (!actionlint) return
  const home = ownFolder(t, 'linted')
  cpSync(join(root, '.github'), join(home, '.github'), { recursive: true })
  const workflows = join(home, '.github/workflows')
  mkdirSync(workflows, { recursive: true })
  writeFileSync(join(workflows, 'shown.yml'), shown().replace(/(OWNER\/\S+)@v\S+/, `$1@${'a'.repeat(40)}`))
  const audit = (/** @type {string} */ place) =>
    ran(zizmor, ['--offline', '--strict-collection', '--no-progress', place], home)
  const found = audit(join(home, '.github'))
  assert.equal(found.status, 0, found.stdout + found.stderr)
  for (const name of ['action', 'release', 'shown'])
    assert.match(found.stderr, new RegExp(`completed \\S*${name}\\.yml`))
  const lint = () => ran(actionlint, ['.github/workflows/*.yml'], home)
  const linted = lint()
  assert.equal(linted.status, 0, linted.stdout + linted.stderr)
  // They do find faults.
  const broken = shown()
    .replace(remote, 'someone/something@main')
    .replace('-c 4', '-c $' + '{{ steps.none.outputs.c }}')
  writeFileSync(join(workflows, 'shown.yml'), broken)
  assert.notEqual(audit(workflows).status, 0)
  assert.match(lint().stdout, /property "none" is not defined/)
})

test('the workflow of the documentation uses inputs of the action', () => {
  const { steps } = parse(shown()).jobs.compare
  const given = steps.find((/** @type {any} */ { uses }) => remote.test(uses ?? '')).with
  for (const name of Object.keys(given)) assert.ok(name in action.inputs, name)
  for (const [name, { required }] of Object.entries(action.inputs))
    assert.ok(!required || name in given, name)
})

/** @param {string} text @param {Record<string, string>} known what expressions stand for */
const filled = (text, known) =>
  String(text).replace(/\$\{\{ (\S+) \}\}/g, (_, name) => {
    assert.ok(name in known, name)
    return known[name]
  })

test('its steps: a failed threshold is annotated, the table is a comment, and the exit code is that of the comparison', (t) => {
  const home = ownFolder(t, 'action')
  const place = (/** @type {string} */ name) => join(home, name)
  mkdirSync(place('bin'))
  mkdirSync(place('job'))
  // What a runner has, and what must not be done here.
  const stubs = {
    npm: 'pwd > "$CALLS/npm"; echo "$@" >> "$CALLS/npm"',
    gh: 'echo "$@" >> "$CALLS/gh"; case "$*" in *--paginate*) cat "$CALLS/earlier" ;; esac; exit "$GH_CODE"',
  }
  for (const [name, text] of Object.entries(stubs))
    writeFileSync(join(place('bin'), name), `#!/bin/bash\n${text}\n`, { mode: 0o755 })
  writeFileSync(place('earlier'), '')
  /** @type {Record<string, string>} */
  const known = {
    'github.token': 'secret',
    'github.repository': 'o/r',
    'github.event.pull_request.number': '7',
  }
  const usual = Object.entries(action.inputs).map(([name, { default: text = '' }]) => [
    name,
    filled(text, known),
  ])
  const given = {
    baseline: 'sorted-set',
    other: "name=it's$HOME strategy=list",
    options: '-q 1000 -c 2',
    thresholds: 'server.memory_bytes_per_item<-99%\n\nserver.net_bytes_per_item<+900%\n',
    rounds: '2',
    seconds: '1',
  }
  for (const [name, text] of Object.entries({ ...Object.fromEntries(usual), ...given }))
    known[`inputs.${name}`] = text
  const [install, compare, comment, verdict] = action.runs.steps
  const step = (/** @type {any} */ { run, env = {}, shell }, ghCode = '0') => {
    assert.equal(shell, 'bash')
    writeFileSync(place('step.sh'), run)
    return ran('bash', ['--noprofile', '--norc', '-eo', 'pipefail', place('step.sh')], place('job'), {
      ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filled(text, known)])),
      PATH: `${place('bin')}:${process.env.PATH}`,
      XDG_RUNTIME_DIR: home,
      CALLS: home,
      GH_CODE: ghCode,
      GITHUB_ACTION_PATH: folder,
      GITHUB_OUTPUT: place('output'),
      GITHUB_STEP_SUMMARY: place('summary'),
    })
  }
  assert.equal(step(install).status, 0)
  assert.equal(readFileSync(place('npm'), 'utf8'), `${root.replace(/\/$/, '')}\nci --no-audit --no-fund\n`)

  const compared = step(compare)
  assert.equal(compared.status, 0, compared.stderr)
  const output = Object.fromEntries(
    readFileSync(place('output'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  )
  const { thresholds, valid } = JSON.parse(readFileSync(join(output.folder, 'compare.json'), 'utf8'))
  const failed = thresholds.filter((/** @type {any} */ { outcome }) => outcome === 'failed')
  const annotations = compared.stdout.match(/^::error title=Millrace threshold failed::.*$/gm) ?? []
  assert.equal(annotations.length, failed.length, compared.stdout)
  // Rounds of a machine that stood still do not count.
  if (valid) {
    assert.equal(output.code, '99', compared.stderr)
    assert.match(String(annotations[0]), /::server\.memory_bytes_per_item<-99%25, measured /)
  } else assert.match(output.code, /^(4|99)$/, compared.stderr)
  const table = readFileSync(join(output.folder, 'summary.md'), 'utf8')
  assert.equal(readFileSync(place('summary'), 'utf8'), table)
  assert.equal(readdirSync(join(place('job'), 'millrace-results')).length, 1)

  known['steps.compare.outputs.folder'] = output.folder
  known['steps.compare.outputs.code'] = output.code
  assert.equal(comment.if, "inputs.comment == 'true' && github.event.pull_request.number")
  const written = step(comment)
  assert.equal(written.status, 0, written.stderr)
  assert.doesNotMatch(written.stdout, /warning/)
  const calls = () => readFileSync(place('gh'), 'utf8').trim().split('\n')
  assert.equal(calls()[1], 'api --silent repos/o/r/issues/7/comments -F body=@millrace-comment.md')
  const body = readFileSync(join(place('job'), 'millrace-comment.md'), 'utf8')
  assert.match(body, /^<!-- millrace \d+ -->\n/)
  assert.ok(body.endsWith(table) && table.includes('| memory per item |'))
  // The next push.
  writeFileSync(place('earlier'), '41\n42\n')
  assert.equal(step(comment).status, 0)
  assert.match(calls()[3], /^api --silent --method PATCH repos\/o\/r\/issues\/comments\/41 -F body=@/)
  const refused = step(comment, '1')
  assert.equal(refused.status, 0)
  assert.match(refused.stdout, /^::warning title=Millrace::no comment: /m)

  assert.equal(step(verdict).status, Number(output.code))
  assert.ok(!existsSync(join(root, 'millrace-results')))
})
