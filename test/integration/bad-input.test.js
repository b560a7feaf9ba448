// What must not be taken: one line that names the culprit on stderr, nothing on stdout, nothing written anywhere.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { resultDocument } from '../../lib/result/document.js'
import { badInputs, onlyLine, refusalOf } from '../helpers/bad-lines.js'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { refusedHere } from '../helpers/here.js'
import { at, ownFolder, startProgram, until } from '../helpers/programs.js'
import { sampleParts } from '../helpers/sample-run.js'
import { startServer, suiteScope, suiteServer } from '../helpers/servers.js'
import { rowsOf } from '../helpers/table.js'
import { makeCertificates } from '../helpers/tls-servers.js'

/** @import { Socket } from 'node:net' */
/** @import { Program } from '../helpers/bad-lines.js' */
/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

// A program takes a quarter of a second to start: every so many of the lines is typed as a user would.
const wholeEvery = 20

const files = { producer: 'producer.js', consumer: 'consumer.js', cleanup: 'scripts/cleanup.js' }

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

/** The words of a row: variables, and the line behind them. @param {string} text */
const typedIn = (text) => {
  const words = text.split(' ')
  const [variables, line] = [true, false].map((is) => words.filter((word) => /^[A-Z_]+=/.test(word) === is))
  return { env: Object.fromEntries(variables.map((word) => word.split('='))), line: line.join(' ') }
}

// The exit code, a line with its variables, and what is said of it. $OWN is a folder with what some of them need.
const refused = rowsOf(String.raw`
2 -> WRITE --out $OWN/file -> ^--out \S+: the folder cannot be written \((ENOTDIR|EEXIST)\)$
2 -> WRITE --out $OWN/file/below -> ^--out \S+: the folder cannot be written \(ENOTDIR\)$
2 -> WRITE --out /proc/x -> ^--out /proc/x: the folder cannot be written
2 -> WRITE --out /sys/x/y -> ^--out /sys/x/y: the folder cannot be written
2 -> WRITE --out $OWN/loop/x -> ^--out \S+: the folder cannot be written \(ELOOP|EEXIST\)
2 -> WRITE --out $OWN/${'x'.repeat(300)} -> ^--out \S+: the folder cannot be written \(ENAMETOOLONG\)$
2 -> WRITE --run mine --out $OWN -> ^--run mine: results of that name exist in
2 -> READ --out $OWN/file -> ^--out \S+: the folder cannot be written
2 -> REDIS_PASSWORD= WRITE --password-file /nowhere -> ^--password-file: cannot read /nowhere: there is no such file$
2 -> REDIS_PASSWORD= WRITE --password-file $OWN/secret -> ^--password-file: the first line of \S+ is empty$
2 -> WRITE --tls --ca $OWN/file -> ^--ca: no certificate in \S+file$
2 -> WRITE --tls --cert $OWN/bad.pem --key $KEY -> ^--cert: no certificate that can be read in \S+bad.pem
2 -> WRITE --tls --cert $CERT --key $OTHER -> ^--key: \S+ is not the key of \S+ \(
3 -> NONE WRITE --server-bin /no/such -> ^--server-bin /no/such: no such program$
3 -> NONE WRITE --server-bin /bin/true -> ^--server-bin /bin/true: not a redis-server
3 -> NONE WRITE --server-bin /tmp -> ^--server-bin /tmp: no program that may be run$
3 -> NONE WRITE --server-config no-such-line=1 -> ended at start: .*Bad directive
3 -> NONE cleanup -> no address is given, and no writer
3 -> NONE READ -> ^no address is given, and no writer with a local server runs here; .*--host$
3 -> WRITE --host 127.0.0.1:1 -> ^127\.0\.0\.1:1: nothing listens there; correct the address \(--url, or --host and --port\)
3 -> READ --host 127.0.0.1:1 -> ^127\.0\.0\.1:1: nothing listens there
3 -> cleanup --host 127.0.0.1:1 -> ^127\.0\.0\.1:1: nothing listens there
3 -> WRITE --host nowhere.invalid -> ^nowhere\.invalid:\d+: the name is not known to DNS; correct the address
3 -> REDIS_PASSWORD= WRITE -> : the server wants a password; set REDIS_PASSWORD \(NOAUTH
3 -> REDIS_PASSWORD=hunter2 WRITE -> : wrong user or password; correct --username and REDIS_PASSWORD.*\(WRONGPASS
3 -> WRITE --username nobody -> : wrong user or password
3 -> WRITE --db 99 -> : it has no such database; correct --db
3 -> WRITE --cluster -> is not part of a cluster; leave out --cluster$
3 -> WRITE --strategy hash-ttl -> not support hash-ttl, which needs HSETEX \(Redis 8\.0, Valkey 9\.0\) or HEXPIRE \(Redis 7\.4\)
3 -> WRITE --host 127.0.0.1:$WEB -> ^127\.0\.0\.1:\d+: 
3 -> WRITE --host 127.0.0.1:$CUT -> ^127\.0\.0\.1:\d+: the connection was cut
3 -> WRITE --host 127.0.0.1:$MUTE -> ^127\.0\.0\.1:\d+: no answer
`)
// By a program, in that folder.
const refusedWhole = rowsOf(String.raw`
2 -> MILLRACE_NO_DOTENV= -> ^\.env cannot be read \(EISDIR\)
2 -> REDIS_PASSWORD= --ask-password -> ^--ask-password needs a terminal
2 -> --tls --ca ca.pem -> ^--ca: cannot read ca\.pem: there is no such file$
3 -> NONE PATH=/nowhere -> ^no redis-server or valkey-server in PATH: install one \(Debian.*Amazon Linux.*macOS
2 -> NONE TMPDIR=/nowhere -> ^TMPDIR /nowhere: no folder for local servers can be made
`)
/** Longer words of rows. @type {Record<string, string>} */
const words = {
  WRITE: 'write -q 20 --intervals 1 --log error',
  READ: 'read --duration 1 --log error',
  NONE: 'REDIS_HOST= REDIS_PORT= REDIS_PASSWORD=',
}

describe('folders, files and targets', { concurrency: 3 }, () => {
  const scope = suiteScope()
  const server = suiteServer()
  const own = ownFolder(scope, 'bad')
  /** Servers that do not speak RESP, or not at all. @type {Record<string, (socket: Socket) => void>} */
  const answers = {
    WEB: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    CUT: (socket) => socket.destroy(),
    MUTE: () => {},
  }
  const known = /** @type {Record<string, string>} */ ({ OWN: own })
  /** @param {(socket: Socket) => void} answer @returns {Promise<number>} */
  const listening = async (answer) => {
    const sockets = new Set()
    const listener = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      answer(socket)
    })
    scope.after(() => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    })
    await once(listener.listen(0, '127.0.0.1'), 'listening')
    return /** @type {any} */ (listener.address()).port
  }
  before(async () => {
    const files = { file: 'hello', secret: '\nhunter2\n', 'mine/run.json': '{}' }
    for (const folder of ['mine', '.env']) mkdirSync(join(own, folder))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text)
    writeFileSync(join(own, 'bad.pem'), '-----BEGIN CERTIFICATE-----\nxxxx\n-----END CERTIFICATE-----\n')
    symlinkSync(join(own, 'loop'), join(own, 'loop'))
    const [{ cert, key }, other] = [makeCertificates(scope), makeCertificates(scope)]
    Object.assign(known, { CERT: cert, KEY: key, OTHER: other.key })
    for (const [name, answer] of Object.entries(answers)) known[name] = String(await listening(answer))
  })

  for (const [rows, isWhole] of /** @type {const} */ ([
    [refused, false],
    [refusedWhole, true],
  ]))
    for (const [code, typed, says] of rows)
      test(typed.length < 200 ? typed : '--out has a name that is too long', async (t) => {
        const whole = typed
          .replace(/\b(WRITE|READ|NONE)\b/g, (word) => words[word])
          .replace(/\$([A-Z]+)/g, (_, name) => known[name])
        const { line, env } = typedIn(whole)
        const options = {
          env: { ...at(server), ...env },
          ...(/--out|cleanup/.test(line) && { out: /** @type {const} */ (false) }),
        }
        const ended = isWhole
          ? await startProgram(t, files.producer, `-q 20 --intervals 1 ${line}`, { ...options, cwd: own })
              .ended
          : await runCommand(t, line, options)
        assert.deepEqual([ended.code, ended.stdout], [Number(code), ''], ended.stderr)
        assert.match(onlyLine(ended.stderr), new RegExp(says))
        assert.equal(ended.folder, '', 'an empty folder is taken away')
        assert.doesNotMatch(await server.redis.info('keyspace'), /db\d/)
      })

  test('a disk that is nearly full', async (t) => {
    const disk = ownFolder(t, 'disk')
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk], { stdio: 'ignore' })
    if (mounted.status !== 0) return t.skip('mounting a small disk needs root')
    t.after(() => spawnSync('umount', ['--lazy', disk]))
    const out = join(disk, 'results')
    const ended = await startProgram(t, 'producer.js', '-q 20', { env: at(server), out }).ended
    assert.deepEqual([ended.code, ended.stdout], [2, ''])
    assert.match(
      onlyLine(ended.stderr),
      /^--out \S+: only 1\.\d+ MB are free there, and a run may need 20\.0 MB$/,
    )
    assert.deepEqual(readdirSync(out), [])
    assert.equal(spawnSync('umount', [disk]).status, 0)
  })

  test('a plan of a strategy that a later version knows', async (t) => {
    const plan = { strategy: 'bitmap', version: '9.0', renewedMs: Date.now() }
    // Of its own: the other tests see that theirs stays empty.
    const later = await startServer(t)
    await later.redis.hset('later:millrace:plan', 'abcdefabcd', JSON.stringify(plan))
    for (const [line, says] of rowsOf(`
read --duration 1 -> the plan of Millrace 9.0 there is of the strategy 'bitmap', which this version
cleanup -> the plan under the prefix 'later:' .* cannot be read.*'bitmap', which this version
`)) {
      const ended = await runCommand(t, `${line} --prefix later:`, { env: at(later), out: false })
      assert.deepEqual([ended.code, ended.stdout], [3, ''])
      assert.match(onlyLine(ended.stderr), new RegExp(says))
    }
  })

  test('a cleanup that is interrupted while a server says nothing', async (t) => {
    let asked = false
    const port = await listening(() => {
      asked = true
    })
    const env = at({ host: '127.0.0.1', port, password: '' })
    const run = startCommand(t, 'cleanup --yes', { env, out: false })
    await until('the server was asked', () => asked)
    // Before the server has had its time to answer, for then the code would be 3.
    run.kill('SIGINT')
    const { code, stdout, stderr } = await run.ended
    assert.deepEqual([code, stdout], [130, ''], stderr)
    assert.match(onlyLine(stderr), /^interrupted before anything was sent$/)
  })
})

// What commands refuse that need no server for it.
const refusedCommands = rowsOf(String.raw`
choose --rate 1k --popularity often -> ^--popularity must be
choose --rate 1k --time 20s --need newest-n -> ^--time 20s is too short for 7 candidates
find list --over memory --rate 1k --slo hit_rate>80% -> ^--over memory: list: no cache
find list --rate 1k --slo latency.p99<5ms -> ^--rate belongs to --over memory
find cache-aside --over memory --slo hit_rate>80% -> ^--rate is missing
find cache-aside --over memory --rate 1k --slo hit_rate>80% --host 10.0.0.1 -> ^--host does not go with --over memory
find cache-aside --over memory --rate 1k --slo hit_rate>80% --policy noeviction -> ^--policy=noeviction: a cache that may not evict
find cache-aside --over memory --rate 1k --slo hit_rate>80 -> the limit has no unit
find cache-aside --over memory --rate 1k --slo hit_rate>195% -> ^--slo hit_rate>195%: cache\.hit_pct is between 0 and 100 %, so this never holds$
find cache-aside --over memory --rate 1k -> ^--slo is missing
write --strategy cache-aside -t 2 --duration 1s -> ^--total-agents: the boxes of a cache meet on a control server; add --control
write --strategy cache-aside -t 2 -a all --run one --duration 1s --host h --control redis://c -> ^--agent: a box of a cache has one number
find cache-aside -t 2 --run one --host h --control redis://c --slo latency.intended.p99<5ms -> ^--control: a search of cache-aside is played by one process
write --threshold hit_rate>195% --dry-run -> ^--threshold hit_rate>195%: cache\.hit_pct is between 0 and 100 %, so this never holds$
write --threshold latency.intendd.p99<20ms -> ^--threshold latency\.intendd\.p99<20ms: .* did you mean latency\.intended\.p99\?$
report -> ^name one folder of results
report $OWN -> contains neither run\.json nor experiment\.json$
report $OWN/none -> there is no such folder$
diff a -> ^diff takes at least two sides
diff a b --nonsense -> ^unknown option --nonsense$
compare default -> ^compare takes two sides or more, not 1
compare default strategy=nonsense -> --strategy
compare default default --gate never -> ^--gate must be one of strict, lenient, not 'never'$
experiment -> a command is missing
experiment lisst -> 'lisst' is no command
fleet -> ^a command is missing: status, watch, serve, report, stop, files
fleet foo -> ^'foo' is no command: status, watch, serve, report, stop, files
experiment list extra -> ^unexpected word on the command line \(not shown
experiment run -> run needs an id, a path, or --all
experiment run list --all -> ids or --all, not both
experiment run list --rounds 0 -> --rounds must be a whole number from 1
experiment run list --scale x -> --scale must be a number
experiment run list --cluster -> , need --url, --host or --port$
experiment run nothing -> no experiment is called 'nothing'
fleet files --boxes 3xc7g.large -- -q 10 -> ^what is to be started\?
fleet files r --boxes 300xc7g.large -- -q 10 -> ^--boxes 300xc7g\.large: must be 1 to 64 boxes
AWS -> ^which run\? put the options of millrace write behind --
AWS -- --host h --password hunter2 -> ^a password is no part of a template
AWS -- --host h --nope -> ^unknown option --nope
AWS -- --host h --out here -> ^--out behind -- is not taken
AWS -- --host h --duration 90m -> ^--ttl of 1:30:00 ends the boxes before their run, whose --duration is 1:30:00$
plan --model docs/examples/shop.yaml -> ^--model .*shop\.yaml: has a mix, which is measured by itself; give the file without --model$
calibrate --model docs/examples/shop.yaml -> ^--model .*shop\.yaml: has a mix, which is measured by itself; give the file without --model$
read --model docs/examples/shop.yaml -> ^--model: shop has a mix, and its reads are among its commands: .* millrace replay sends them, and millrace read FILE these alone$
verify -> .
verify nowhere -> .
`)
test('what commands refuse: one line that names what to change, and exit code 2', async (t) => {
  const own = ownFolder(t, 'none')
  const aws = 'fleet files spring-test --boxes 3xc7g.large --region eu-west-1 --ttl 90m'
  for (const [line, says] of refusedCommands) {
    const { code, stderr } = await refusedHere(line.replace('$OWN', own).replace('AWS', aws))
    assert.match(onlyLine(stderr), new RegExp(says), line)
    assert.equal(code, 2, line)
  }
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
