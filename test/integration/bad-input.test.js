// What must not be taken: one line that names the culprit on stderr, nothing on stdout, nothing written anywhere.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { resultDocument } from '../../lib/result/document.js'
import { badInputs, onlyLine, refusalOf } from '../helpers/bad-lines.js'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { readHere, writeHere } from '../helpers/here.js'
import { at, ownFolder, startProgram, until } from '../helpers/programs.js'
import { sampleParts } from '../helpers/sample-run.js'
import { startServer, suiteScope, suiteServer } from '../helpers/servers.js'
import { makeCertificates } from '../helpers/tls-servers.js'

/**
 * @import { Socket } from 'node:net'
 * @import { Program } from '../helpers/bad-lines.js'
 * @import { TestServer } from '../helpers/servers.js'
 * @import { TestContext } from 'node:test'
 */

// A program takes a quarter of a second to start: every so many of the lines is typed as a user would.
const wholeEvery = 20

const files = { producer: 'producer.js', consumer: 'consumer.js', cleanup: 'scripts/cleanup.js' }
const commands = { producer: 'write -q 20 --intervals 1', consumer: 'read --duration 1', cleanup: 'cleanup' }

describe('as a user types them', { concurrency: 2 }, () => {
  const typed = badInputs.filter((_, i) => i % wholeEvery === 0)
  for (const { program, input, names } of typed)
    test(`${program}: ${JSON.stringify(input)}`, async (t) => {
      const cwd = ownFolder(t, 'cwd')
      const { line = '', env = {}, dotenvText } = input
      if (dotenvText !== undefined) writeFileSync(join(cwd, '.env'), dotenvText)
      const run = startProgram(t, files[program], line, {
        cwd,
        env: { ...env, ...(dotenvText !== undefined && { MILLRACE_NO_DOTENV: '' }) },
        out: false,
      })
      const { code, stdout, stderr } = await run.ended
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(onlyLine(stderr), names)
      assert.equal(onlyLine(stderr), refusalOf(program, input))
      assert.deepEqual(readdirSync(cwd), dotenvText === undefined ? [] : ['.env'])
    })
})

describe('folders, files and targets', { concurrency: 2 }, () => {
  const server = suiteServer()
  const scope = suiteScope()

  /** A server that does not speak RESP, or not at all. @param {(socket: Socket) => void} answer */
  const listening = (answer) =>
    new Promise((/** @type {(port: number) => void} */ resolve) => {
      const sockets = new Set()
      const listener = createServer((socket) => {
        sockets.add(socket)
        socket.on('error', () => {})
        answer(socket)
      })
      scope.after(() => {
        for (const socket of sockets) socket.destroy()
        listener.close()
      })
      listener.listen(0, '127.0.0.1', () => resolve(/** @type {any} */ (listener.address()).port))
    })

  /**
   * @param {string} what
   * @param {2 | 3} code
   * @param {RegExp} names
   * @param {(own: string, t: TestContext) => { line?: string, env?: Record<string, string>, program?: Program, out?: string | false, isWhole?: boolean }} make
   *   isWhole: by the producer in a process of its own, in that folder
   */
  const refused = (what, code, names, make) =>
    test(what, async (t) => {
      const own = ownFolder(t, 'bad')
      const { line = '', env = {}, program = 'producer', isWhole = false, ...more } = make(own, t)
      const [command, ...words] = `${commands[program]} ${line}`.split(' ')
      const options = {
        env: { ...at(server), ...env },
        out: program === 'cleanup' ? /** @type {const} */ (false) : more.out,
      }
      const ended = isWhole
        ? await startProgram(t, files.producer, words.filter(Boolean), { ...options, cwd: own }).ended
        : await runCommand(t, [command, ...words.filter(Boolean)].join(' '), options)
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr)
      assert.match(onlyLine(ended.stderr), names)
      assert.equal(ended.folder, '', 'an empty folder is taken away')
      assert.equal(await server.redis.dbsize(), 0)
      assert.doesNotMatch(await server.redis.info('keyspace'), /db\d/)
    })

  /**
   * The same of a run in this process.
   * @param {string} what
   * @param {RegExp} names
   * @param {{ line?: string, env?: Record<string, string>, program?: Program, answer?: (socket: Socket) => void }} run answer: of a server of its own
   */
  const refusedHere = (what, names, { line = '', env = {}, program, answer }) =>
    test(what, async (t) => {
      const address = answer ? local(await listening(answer)) : env
      const isReader = program === 'consumer'
      const short = isReader ? '--duration 1' : '-q 20 --intervals 1'
      const start = isReader ? readHere : writeHere
      const ended = await start(t, `${short} ${line}`, { env: { ...at(server), ...address } })
      assert.equal(ended.code, 3, ended.stderr)
      assert.match(onlyLine(`${ended.refusal}\n`), names)
      assert.equal(await server.redis.dbsize(), 0)
    })

  const nothing = { REDIS_HOST: '', REDIS_PORT: '', REDIS_PASSWORD: '' }
  const local = (/** @type {number} */ port) => at({ host: '127.0.0.1', port, password: '' })

  // results
  refused('--out is a file', 2, /^--out \S+: the folder cannot be written \((ENOTDIR|EEXIST)\)$/, (own) => {
    writeFileSync(join(own, 'file'), '')
    return { out: join(own, 'file') }
  })
  refused('--out lies under a file', 2, /^--out \S+: the folder cannot be written \(ENOTDIR\)$/, (own) => {
    writeFileSync(join(own, 'file'), '')
    return { out: join(own, 'file', 'below') }
  })
  refused('--out in /proc', 2, /^--out \/proc\/x: the folder cannot be written/, () => ({ out: '/proc/x' }))
  refused('--out in /sys', 2, /^--out \/sys\/x\/y: the folder cannot be written/, () => ({ out: '/sys/x/y' }))
  refused(
    '--out is a link to itself',
    2,
    /^--out \S+: the folder cannot be written \(ELOOP|EEXIST\)/,
    (own) => {
      symlinkSync(join(own, 'loop'), join(own, 'loop'))
      return { out: join(own, 'loop', 'x') }
    },
  )
  refused(
    '--out has a name that is too long',
    2,
    /^--out \S+: the folder cannot be written \(ENAMETOOLONG\)$/,
    (own) => ({ out: join(own, 'x'.repeat(300)) }),
  )
  refused('--run exists', 2, /^--run mine: results of that name exist in/, (own) => {
    mkdirSync(join(own, 'mine'))
    writeFileSync(join(own, 'mine', 'run.json'), '{}')
    return { line: `--run mine --out ${own}`, out: false }
  })
  refused('--out of a consumer is a file', 2, /^--out \S+: the folder cannot be written/, (own) => {
    writeFileSync(join(own, 'file'), '')
    return { program: 'consumer', out: join(own, 'file') }
  })
  test('a disk that is nearly full', async (t) => {
    const disk = ownFolder(t, 'disk')
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk], { stdio: 'ignore' })
    if (mounted.status !== 0) return t.skip('mounting a small disk needs root')
    t.after(() => spawnSync('umount', ['--lazy', disk]))
    const env = at(server)
    const out = join(disk, 'results')
    const { code, stdout, stderr } = await startProgram(t, 'producer.js', '-q 20', { env, out }).ended
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(onlyLine(stderr), /^--out \S+: only 1\.\d+ MB are free there, and a run may need 20\.0 MB$/)
    assert.deepEqual(readdirSync(out), [])
    assert.equal(spawnSync('umount', [disk]).status, 0)
  })

  // files
  refused('.env is a folder', 2, /^\.env cannot be read \(EISDIR\)/, (own) => {
    mkdirSync(join(own, '.env'))
    return { env: { MILLRACE_NO_DOTENV: '' }, isWhole: true }
  })
  refused('--password-file is not there', 2, /^--password-file: cannot read \/nowhere \(ENOENT\)$/, () => ({
    line: '--password-file /nowhere',
    env: { REDIS_PASSWORD: '' },
  }))
  refused('--password-file is empty', 2, /^--password-file: the first line of \S+ is empty$/, (own) => {
    writeFileSync(join(own, 'secret'), '\nhunter2\n')
    return { line: `--password-file ${own}/secret`, env: { REDIS_PASSWORD: '' } }
  })
  refused('--ask-password without a terminal', 2, /^--ask-password needs a terminal/, () => ({
    line: '--ask-password',
    env: { REDIS_PASSWORD: '' },
    isWhole: true,
  }))
  refused('--ca is not there', 2, /^--ca: cannot read ca\.pem \(ENOENT\)$/, () => ({
    line: '--tls --ca ca.pem',
    isWhole: true,
  }))
  refused('--ca holds no certificate', 2, /^--ca: no certificate in \S+ca\.pem$/, (own) => {
    writeFileSync(join(own, 'ca.pem'), 'hello')
    return { line: `--tls --ca ${own}/ca.pem` }
  })
  refused(
    '--cert holds no certificate',
    2,
    /^--cert: no certificate that can be read in \S+c\.pem/,
    (own, t) => {
      writeFileSync(join(own, 'c.pem'), '-----BEGIN CERTIFICATE-----\nxxxx\n-----END CERTIFICATE-----\n')
      return { line: `--tls --cert ${own}/c.pem --key ${makeCertificates(t).key}` }
    },
  )
  refused('--key belongs to another certificate', 2, /^--key: \S+ is not the key of \S+ \(/, (_, t) => ({
    line: `--tls --cert ${makeCertificates(t).cert} --key ${makeCertificates(t).key}`,
  }))
  refused('--server-bin is not there', 3, /^--server-bin \/no\/such: no such program$/, () => ({
    line: '--server-bin /no/such',
    env: nothing,
  }))
  refused('--server-bin is no server', 3, /^--server-bin \/bin\/true: not a redis-server/, () => ({
    line: '--server-bin /bin/true',
    env: nothing,
  }))
  refused('--server-config that no server takes', 3, /ended at start: .*Bad directive/, () => ({
    line: '--server-config no-such-line=1',
    env: nothing,
  }))
  refused('--server-bin is a folder', 3, /^--server-bin \/tmp: no program that may be run$/, () => ({
    line: '--server-bin /tmp',
    env: nothing,
  }))
  refused(
    'no server in PATH',
    3,
    /^no redis-server or valkey-server in PATH: install one \(Debian.*Amazon Linux.*macOS/,
    () => ({ env: { ...nothing, PATH: '/nowhere' }, isWhole: true }),
  )

  refused('TMPDIR is not there', 2, /^TMPDIR \/nowhere: no folder for local servers can be made/, () => ({
    env: { ...nothing, TMPDIR: '/nowhere' },
    isWhole: true,
  }))

  // targets
  test('a plan of a strategy that a later version knows', async (t) => {
    const plan = { strategy: 'bitmap', version: '9.0', renewedMs: Date.now() }
    // Of its own: the other tests see that theirs stays empty.
    const later = await startServer(t)
    await later.redis.hset('later:millrace:plan', 'abcdefabcd', JSON.stringify(plan))
    const env = at(later)
    const { code, stdout, stderr } = await runCommand(t, 'read --prefix later: --duration 1', { env })
    assert.deepEqual([code, stdout], [3, ''])
    assert.match(
      onlyLine(stderr),
      /the plan of Millrace 9\.0 there is of the strategy 'bitmap', which this version/,
    )
    const cleaned = await runCommand(t, 'cleanup --prefix later:', { env, out: false })
    assert.deepEqual([cleaned.code, cleaned.stdout], [3, ''])
    assert.match(
      onlyLine(cleaned.stderr),
      /the plan under the prefix 'later:' .* cannot be read.*'bitmap', which this version/,
    )
  })
  refused('nothing listens', 3, /^127\.0\.0\.1:1: nothing listens there; correct the address/, () => ({
    env: local(1),
  }))
  refusedHere('nothing listens, for a consumer', /^127\.0\.0\.1:1: nothing listens there/, {
    program: 'consumer',
    env: local(1),
  })
  refused('nothing listens, for the cleanup', 3, /^127\.0\.0\.1:1: nothing listens there/, () => ({
    program: 'cleanup',
    env: local(1),
  }))
  for (const [what, names, run] of /** @type {[string, RegExp, Parameters<typeof refusedHere>[2]][]} */ ([
    [
      'an unknown name',
      /^nowhere\.invalid:\d+: the name is not known to DNS; correct the address/,
      { env: { REDIS_HOST: 'nowhere.invalid' } },
    ],
    [
      'no password',
      /: the server wants a password; set REDIS_PASSWORD \(NOAUTH/,
      { env: { REDIS_PASSWORD: '' } },
    ],
    [
      'a wrong password',
      /: wrong user or password; correct --username and REDIS_PASSWORD.*\(WRONGPASS/,
      { env: { REDIS_PASSWORD: 'hunter2' } },
    ],
    ['an unknown user', /: wrong user or password/, { line: '--username nobody' }],
    ['no such database', /: it has no such database; correct --db/, { line: '--db 99' }],
    ['no cluster', /is not part of a cluster; leave out --cluster$/, { line: '--cluster' }],
    [
      'a command that the server lacks',
      /not support hash-ttl, which needs HSETEX \(/,
      { line: '--strategy hash-ttl' },
    ],
    [
      'a web server',
      /^127\.0\.0\.1:\d+: /,
      { answer: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
    ],
    [
      'a server that hangs up',
      /^127\.0\.0\.1:\d+: the connection was cut/,
      { answer: (socket) => socket.destroy() },
    ],
    ['a server that says nothing', /^127\.0\.0\.1:\d+: no answer/, { answer: () => {} }],
  ]))
    refusedHere(what, names, run)
  test('a cleanup that is interrupted while a server says nothing', async (t) => {
    let asked = false
    const port = await listening(() => {
      asked = true
    })
    const run = startCommand(t, 'cleanup --yes', { env: local(port), out: false })
    await until('the server was asked', () => asked)
    // Before the server has had its time to answer, for then the code would be 3.
    run.kill('SIGINT')
    const { code, stdout, stderr } = await run.ended
    assert.deepEqual([code, stdout], [130, ''], stderr)
    assert.match(onlyLine(stderr), /^interrupted before anything was sent$/)
  })
  refused('no server to attach to', 3, /no address is given, and no writer/, () => ({
    program: 'cleanup',
    env: nothing,
  }))
})

describe('folders of results that are broken', { concurrency: 2 }, () => {
  // What else may be wrong in them is a table of test/unit/broken-results.test.js.
  for (const command of ['report', 'diff', 'cloudwatch', 'verify'])
    test(`${command}: one line that names the file and its fault`, async (t) => {
      const own = ownFolder(t, 'broken')
      writeFileSync(join(own, 'run.json'), JSON.stringify({ schema: 1 }))
      const ended = await runCommand(t, `${command} ${own} ${command === 'diff' ? own : ''}`, { out: false })
      assert.ok(ended.code === 2 || ended.code === 3, `${ended.code} ${ended.stderr}`)
      assert.equal(ended.stdout, '')
      assert.match(onlyLine(ended.stderr), /run\.json is not the result of a run: 'kind' must be producer/)
      assert.deepEqual(readdirSync(own), ['run.json'])
    })

  test('report: --out that cannot be made', async (t) => {
    const own = ownFolder(t, 'report')
    writeFileSync(join(own, 'run.json'), JSON.stringify(resultDocument(sampleParts())))
    const ended = await runCommand(t, `report ${own} --out /proc/x/y`, { out: false })
    assert.deepEqual([ended.code, ended.stdout], [2, ''])
    assert.match(onlyLine(ended.stderr), /^--out \/proc\/x\/y: the folder cannot be written \(ENOENT\)$/)
  })
})

test('a working directory that was removed', async (t) => {
  const own = ownFolder(t, 'cwd')
  const gone = join(own, 'gone')
  mkdirSync(gone)
  const command = `cd ${gone} && rmdir ${gone} && exec ${process.execPath} ${join(process.cwd(), 'producer.js')} -q 5`
  const { status, stderr, stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', timeout: 60_000 })
  assert.deepEqual([status, stdout], [2, ''])
  assert.match(onlyLine(stderr), /^the working directory has been removed/)
})
