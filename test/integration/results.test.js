// Results that cannot be written: exit 1 with the reason, and what was measured is printed all the same.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testEnvironment } from '../../scripts/test.js'
import { runCommand } from '../helpers/command-here.js'
import { startHostileServer } from '../helpers/hostile-server.js'
import { at, folderIn, linesOf, ownFolder, startOther, startProducer, until } from '../helpers/programs.js'
import { startServer, suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

const producer = fileURLToPath(new URL('../../producer.js', import.meta.url))
const load = '-q 20 -p 200 --allow foreign-keys'
const line = `${load} --duration 2`

describe('results that cannot be written', { concurrency: 2 }, () => {
  const server = suiteServer()

  /**
   * @param {TestContext} t
   * @param {string} name prefix of its keys
   * @param {string} out
   * @param {() => void} meddle when the first second is stored
   * @param {string} [more]
   */
  const meddled = async (t, name, out, meddle, more = '') => {
    const run = startProducer(t, `${load} --prefix ${name}: ${more}`, { env: at(server), out })
    await until('a second is stored', () => run.intervals().length > 0)
    meddle()
    run.kill('SIGINT')
    const ended = await run.ended
    assert.equal(ended.code, 1, ended.stderr)
    assert.equal(existsSync(join(ended.folder, 'run.json')), false)
    return ended
  }

  test('a folder that was removed', async (t) => {
    const out = join(ownFolder(t, 'gone'), 'out')
    const { stdout, stderr } = await meddled(t, 'gone', out, () => rmSync(out, { recursive: true }))
    assert.match(stderr, /out\S+ cannot be written \(ENOENT\): the stored result is not complete; .*\n$/)
    assert.match(stdout, /^ {2}server CPU {2,}(at most )?\d/m)
  })

  test('a disk that fills up; the result is printed with --json', async (t) => {
    // What is registered first is undone first.
    t.after(() => spawnSync('umount', ['--lazy', out]))
    const out = join(ownFolder(t, 'full'), 'out')
    mkdirSync(out)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'none', out]).status !== 0)
      return t.skip('mounting a small disk needs root')
    const fill = () => {
      const { error } = spawnSync('dd', ['if=/dev/zero', `of=${join(out, 'zeros')}`, 'bs=64k'])
      assert.equal(error, undefined)
    }
    const { stdout, stderr, folder } = await meddled(t, 'full', out, fill, '--json')
    assert.match(
      stderr,
      /\n[^{\n]*\/(intervals\.ndjson|facts\.json) cannot be written \(ENOSPC\): the stored result is not complete; .*\n$/,
    )
    assert.ok(JSON.parse(stdout).items.acked > 0)
    // What was written is kept: with room again, its seconds are a result.
    rmSync(join(out, 'zeros'))
    const report = await runCommand(t, ['report', folder], { out: false })
    assert.equal(report.code, 4, report.stderr)
    const document = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    const acked = linesOf(join(folder, 'intervals.ndjson')).reduce((sum, { items }) => sum + items.acked, 0)
    assert.ok(acked > 0)
    assert.deepEqual(
      [document.items.acked, document.valid, document.warnings[0].code],
      [acked, false, 'killed'],
    )
  })

  /** @param {TestContext} t @param {string} command */
  const shell = async (t, command) => {
    const cwd = ownFolder(t, 'shell')
    const usual = { ...testEnvironment(process.env), MILLRACE_REPORT: 'false', XDG_RUNTIME_DIR: cwd }
    const env = { ...usual, ...at(server) }
    const ended = await startOther(t, 'bash', ['-c', command], { cwd, env }).ended
    const folder = folderIn(join(cwd, 'out'))
    return { ...ended, files: folder ? readdirSync(folder) : [] }
  }
  const start = `exec ${process.execPath} ${producer} ${line} --out out`

  test('ulimit -f', async (t) => {
    const { code, stdout, stderr, files } = await shell(t, `ulimit -f 1; ${start} --prefix limit:`)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /cannot be written \(EFBIG\)/)
    assert.match(stdout, /^ {2}server CPU {2,}(at most )?\d/m)
    assert.ok(!files.includes('run.json'))
  })

  test('a start without room for its lock does not keep its name', async (t) => {
    const named = `${start} --run mine --prefix none:`
    const { code, stderr } = await shell(
      t,
      `(ulimit -f 0; ${named}) 2>&1 | cat >&2; ${named} --quiet >/dev/null`,
    )
    assert.match(stderr, /--out out: the folder cannot be written \(EFBIG\)/)
    assert.ok(code === 0 || code === 4, stderr)
  })

  test('standard output that is full', async (t) => {
    const { code, stderr, files } = await shell(t, `${start} --prefix dev: --json >/dev/full`)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /standard output cannot be written \(ENOSPC\)/)
    assert.ok(files.includes('run.json'), 'what can be written is')
  })

  test('standard output whose reader has gone is no fault', async (t) => {
    const { code, files } = await shell(
      t,
      `set -o pipefail; ${start.replace('exec ', '')} --prefix head: | true`,
    )
    assert.ok(code === 0 || code === 4, String(code))
    assert.ok(files.includes('run.json'))
  })

  test('a start that was killed does not keep its name', async (t) => {
    const out = join(ownFolder(t, 'killed'), 'out')
    const silent = await startHostileServer(t, () => null)
    const first = startProducer(t, `${line} --run mine`, {
      env: { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(silent) },
      out,
    })
    await until('its folder is there', () => existsSync(join(out, 'mine', 'run.json.part')))
    first.kill('SIGKILL')
    await first.ended
    const { code, stderr } = await startProducer(t, `${line} --run mine --prefix killed:`, {
      env: at(server),
      out,
    }).ended
    assert.ok(code === 0 || code === 4, stderr)
    const files = readdirSync(join(out, 'mine')).sort()
    assert.equal(files.join(' '), 'events.ndjson facts.json intervals.ndjson run.json')
  })
})

test('programs end with their parent, which hands them secrets unseen', async (t) => {
  const server = await startServer(t)
  const own = ownFolder(t, 'parent')
  const parentFile = join(own, 'parent.mjs')
  writeFileSync(
    parentFile,
    `import { startChild } from ${JSON.stringify(new URL('../../lib/base/child.js', import.meta.url).href)}
    const [program, host, port, password] = process.argv.slice(2)
    const args = ['-q', '20', '-p', '200', '--host', host, '--port', port, '--out', 'out']
    const env = { PATH: process.env.PATH, MILLRACE_REPORT: 'false', MILLRACE_NO_DOTENV: '1' }
    const child = startChild(program, args, { env, secrets: { REDIS_PASSWORD: password }, stdio: ['ignore', 'ignore', 'ignore'], detached: true })
    process.stdout.write(String(child.pid))`,
  )
  const { host, port, password } = server
  const parent = spawn(process.execPath, [parentFile, producer, host, String(port), password], { cwd: own })
  t.after(() => parent.kill('SIGKILL'))
  let pid = 0
  parent.stdout.on('data', (text) => {
    pid = Number(text)
  })
  const lines = () =>
    spawnSync('sh', ['-c', 'cat out/*/intervals.ndjson | wc -l'], { cwd: own, encoding: 'utf8' })
  await until('the child writes', () => Number(lines().stdout) > 0)
  for (const file of ['environ', 'cmdline'])
    assert.ok(!readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(password), file)
  parent.kill('SIGKILL')
  const isThere = () => {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    } catch {
      return false
    }
  }
  t.after(() => isThere() && process.kill(pid, 'SIGKILL'))
  await until('the child has ended', () => !isThere())
})
