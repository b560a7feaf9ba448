// docs/examples/fleet: what starts the boxes of a fleet, run here as far as one machine goes.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { millraceVersion } from '../../lib/base/version.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { testEnvironment } from '../../scripts/test.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/**
 * @import { ExecFileOptions } from 'node:child_process'
 * @import { TestServer } from '../helpers/servers.js'
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'docs/examples/fleet')
const text = (/** @type {string} */ name) => readFileSync(join(folder, name), 'utf8')
const millrace = join(root, 'lib/cli/millrace.js')

/**
 * @param {string} program
 * @param {string[]} args
 * @param {ExecFileOptions & { input?: string }} [more]
 * @returns {Promise<{ status: number | string, stdout: string, stderr: string }>} status: or why it did not start
 */
const run = (program, args, { input = '', ...more } = {}) =>
  new Promise((resolve) => {
    const options = { timeout: 300_000, ...more, encoding: /** @type {const} */ ('utf8') }
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? String(error.signal)) : 0, stdout, stderr }),
    )
    child.stdin?.on('error', () => {}).end(input)
  })

/** @param {TestServer} server */
const urlOf = ({ host, port, password }) => `redis://:${password}@${host}:${port}`

/** Options of a run of two boxes, with nothing of another machine. @param {TestServer} target */
const optionsFor = ({ host, port }) =>
  `--host ${host} --port ${port} -q 400 -t 2 --duration 2s --max-behind 60s --no-report --join-within 60s`

/** @param {string} home */
const merged = (home) => {
  const results = join(home, 'results')
  const found = readdirSync(results)
    .map((name) => join(results, name, 'run.json'))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')))
  return found.find(({ items, agents }) => agents.length === 2 && items.acked > 0)
}

describe('what starts the boxes of a fleet', { concurrency: 2 }, () => {
  test('plain ssh: the boxes of a loop are one run', async (t) => {
    const [target, control] = [await startServer(t), await startServer(t)]
    const home = ownFolder(t, 'ssh')
    // As ssh does it: the words behind the host are one line for the shell of the other side.
    mkdirSync(join(home, 'bin'))
    const programs = {
      ssh: '#!/bin/bash\nwhile [ "$1" = -o ]; do shift 2; done\nmkdir -p "$1" && cd "$1" && shift && exec sh -c "$*"\n',
      millrace: `#!/bin/bash\nexec '${process.execPath}' '${millrace}' "$@"\n`,
    }
    for (const [name, content] of Object.entries(programs)) {
      writeFileSync(join(home, 'bin', name), content)
      chmodSync(join(home, 'bin', name), 0o755)
    }
    const env = {
      ...testEnvironment(process.env),
      PATH: `${home}/bin:${process.env.PATH}`,
      XDG_RUNTIME_DIR: home,
      MILLRACE_CONTROL: urlOf(control),
      REDIS_PASSWORD: target.password,
    }
    const args = ['by-ssh', 'box1 box2', ...optionsFor(target).split(' '), '--prefix', "it's$HOME:"]
    const { status, stdout, stderr } = await run(join(folder, 'ssh.sh'), args, { env, cwd: home })
    const logs = ['box1', 'box2']
      .map((box) => readFileSync(join(home, `by-ssh-${box}.log`), 'utf8'))
      .join('\n')
    assert.ok(status === 0 || status === 4, `${status}: ${stdout}${stderr}${logs}`)
    assert.ok(!logs.includes(control.password) && !logs.includes(target.password))
    const document = merged(join(home, 'box1')) ?? merged(join(home, 'box2'))
    assert.ok(document, logs)
    assert.equal(document.items.acked, 800, logs)
    assert.equal(document.plan.prefix, "it's$HOME:")
  })

  /** The commands of the SSM document as the agent would run them. @param {Record<string, string>} given */
  const ssmScript = (given) => {
    const { parameters, mainSteps } = parse(text('ssm-run.yaml'))
    for (const name of Object.keys(given)) assert.ok(name in parameters, name)
    const value = (/** @type {string} */ name) => {
      assert.ok(name in parameters, name)
      const found = given[name] ?? parameters[name].default
      assert.match(found, new RegExp(parameters[name].allowedPattern), name)
      return found
    }
    return mainSteps[0].inputs.runCommand
      .join('\n')
      .replace(/\{\{ (\w+) \}\}/g, (/** @type {string} */ _, /** @type {string} */ name) => value(name))
  }

  test('SSM: every parameter is used and cannot leave its place', () => {
    const document = parse(text('ssm-run.yaml'))
    assert.equal(document.schemaVersion, '2.2')
    const body = JSON.stringify(document.mainSteps)
    for (const [name, { allowedPattern, default: usual }] of Object.entries(document.parameters)) {
      assert.ok(body.includes(`{{ ${name} }}`), name)
      const pattern = new RegExp(allowedPattern)
      if (usual !== undefined) assert.match(usual, pattern, name)
      for (const hostile of ["a'b", 'a"b', 'a;b', 'a$(b)', 'a`b`', 'a\nb', 'a|b', 'a&b', 'a>b', '{{ Run }}'])
        assert.doesNotMatch(hostile, pattern, name)
    }
    assert.throws(() => ssmScript({ Run: 'a b', Options: '-q 10' }))
  })

  test('SSM: two machines that get the command are one run', async (t) => {
    const [target, control] = [await startServer(t), await startServer(t)]
    const home = ownFolder(t, 'ssm')
    const settings = join(home, 'box.env')
    writeFileSync(settings, `MILLRACE_CONTROL="${urlOf(control)}"\nREDIS_PASSWORD="${target.password}"\n`)
    const boxes = await Promise.all(
      ['a', 'b'].map((box) => {
        // No user of the name millrace gets folders of the test.
        const script = ssmScript({
          Run: 'by-ssm',
          Options: optionsFor(target),
          Program: millrace,
          Settings: settings,
          Folder: join(home, box),
        }).replace('id millrace', 'false')
        const env = { ...testEnvironment(process.env), XDG_RUNTIME_DIR: home }
        return run('sh', ['-c', script], { env, cwd: home })
      }),
    )
    const logs = boxes.map(({ stdout, stderr }) => stdout + stderr).join('\n')
    for (const { status } of boxes) assert.ok(status === 0 || status === 4, `${status}: ${logs}`)
    assert.equal((merged(join(home, 'a')) ?? merged(join(home, 'b')))?.items.acked, 800, logs)
  })

  test('user data: sets up a box in a folder that stands for /, and its unit is the one of the package', async (t) => {
    const home = ownFolder(t, 'user-data')
    const env = { ...testEnvironment(process.env), NODE_V8_COVERAGE: undefined }
    const packed = await run('npm', ['pack', '--silent', '--pack-destination', home], { cwd: root, env })
    assert.equal(packed.status, 0, packed.stderr)
    const archive = join(home, packed.stdout.trim().split('\n').at(-1) ?? '')
    const box = join(home, 'box')
    const { status, stdout, stderr } = await run('bash', [join(folder, 'user-data.sh')], {
      env: {
        ...env,
        npm_config_prefer_offline: 'true',
        PACKAGE: archive,
        ROOT: box,
        RUN: 'spring-test',
        CONTROL: 'redis://:a"b$c`d\\e@control:6379',
        OPTIONS: '-q 10 -t 2',
      },
    })
    if (
      status !== 0 &&
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(stderr) &&
      !process.env.CI
    )
      return t.skip('the packages that it needs cannot be fetched')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /this box is ready, and takes part in spring-test/)
    const settings = join(box, 'etc/millrace/box.env')
    assert.equal(statSync(settings).mode & 0o777, 0o600)
    const read = await run('sh', [
      '-c',
      `. '${settings}'; printf '%s\\n' "$MILLRACE_CONTROL" "$MILLRACE_RUN" "$BOX_OPTIONS"`,
    ])
    assert.deepEqual(read.stdout.trim().split('\n'), [
      'redis://:a"b$c`d\\e@control:6379',
      'spring-test',
      '-q 10 -t 2',
    ])
    assert.equal(
      readFileSync(join(box, 'etc/systemd/system/millrace-box.service'), 'utf8'),
      text('millrace-box.service'),
    )
    const help = await run(join(box, 'opt/millrace/node_modules/.bin/millrace'), ['--version'], { env })
    assert.match(help.stdout, /^\d+\.\d+\.\d+\n$/)
  })

  test('a system without a new enough Node.js is refused in a line', async (t) => {
    const home = ownFolder(t, 'no-node')
    const { status, stderr } = await run('/bin/bash', [join(folder, 'user-data.sh')], {
      env: { PATH: home, ROOT: home, PACKAGE: '/none' },
    })
    assert.equal(status, 1)
    assert.equal(stderr, 'this system has no Node.js 20.19 or later: install one, then run this again\n')
  })

  test('systemd finds no fault with the unit', async (t) => {
    if ((await run('systemd-analyze', ['--version'])).status === 'ENOENT')
      return t.skip('no systemd-analyze here')
    const home = ownFolder(t, 'unit')
    const unit = text('millrace-box.service')
    assert.match(unit, /^ExecStart=\/opt\/millrace\/node_modules\/\.bin\/millrace write \$BOX_OPTIONS$/m)
    // What it starts must exist where it is verified.
    const path = join(home, 'millrace-box.service')
    writeFileSync(path, unit.replace('/opt/millrace/node_modules/.bin/millrace', process.execPath))
    const { status, stderr } = await run('systemd-analyze', [
      'verify',
      '--man=no',
      '--recursive-errors=no',
      path,
    ])
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /millrace-box/)
  })

  test('Kubernetes: the options of the pods are options, and there is a pod for each writer', () => {
    const documents = parseAllDocuments(text('kubernetes.yaml')).map((one) => one.toJS())
    assert.deepEqual(
      documents.map(({ kind }) => kind),
      ['Service', 'Deployment', 'NetworkPolicy', 'Job'],
    )
    const { spec } = documents[3]
    const [{ args, env, command, image }] = spec.template.spec.containers
    // As the image wants it: the Dockerfile names the program, and a user that is not root.
    const [, user] =
      /^USER (\d+):/m.exec(readFileSync(join(root, 'docs/examples/container/Dockerfile'), 'utf8')) ?? []
    assert.deepEqual(
      [command, args[0], image],
      [undefined, 'write', `registry.example/millrace:${millraceVersion()}`],
    )
    assert.equal(spec.template.spec.securityContext.runAsUser, Number(user))
    const variables = Object.fromEntries(
      env.map((/** @type {{ name: string, value?: string }} */ { name, value }) => [name, value ?? 'secret']),
    )
    const settings = /** @type {any} */ (
      readSettings({ program: 'producer', argv: args.slice(1), env: variables })
    )
    assert.equal(settings.totalAgents, spec.completions)
    assert.equal(spec.parallelism, spec.completions)
    assert.equal(settings.run, documents[3].metadata.name)
    assert.equal(settings.control.host, documents[0].metadata.name)
    assert.equal(settings.control.port, documents[0].spec.ports[0].port)
  })

  test('Kubernetes: the manifests are what the schemas of its versions want', async (t) => {
    const python = peer(t, 'kubernetes-validate')
    if (!python) return
    const validated = (/** @type {string} */ file, /** @type {string[]} */ versions, input = '') => {
      const asked = versions.flatMap((version) => ['-k', version])
      return run(python, ['-m', 'kubernetes_validate', '--strict', ...asked, file], { input })
    }
    const { status, stdout, stderr } = await validated(join(folder, 'kubernetes.yaml'), [
      '1.29',
      '1.33',
      '1.37',
    ])
    assert.equal(status, 0, stdout + stderr)
    // It does find faults.
    const broken = text('kubernetes.yaml').replace('completions: 8', 'completions: eight')
    assert.notEqual((await validated('-', ['1.33'], broken)).status, 0)
  })
})
