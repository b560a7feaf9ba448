// docs/examples/fleet: what starts the boxes of a fleet, run here as far as one machine goes.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { millraceVersion } from '../../lib/base/version.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { testEnvironment } from '../../scripts/test.js'
import { runCommand } from '../helpers/command-here.js'
import { startMoto } from '../helpers/moto.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

/** @import { ExecFileOptions } from 'node:child_process' */
/** @import { TestServer } from '../helpers/servers.js' */

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

const packages = ownFolder({ after }, 'package')
/** @type {Promise<string> | undefined} */
let archiveMade
/** The package, which is made once. */
const packed = () => {
  archiveMade ??= run('npm', ['pack', '--silent', '--pack-destination', packages], {
    cwd: root,
    env: { ...testEnvironment(process.env), NODE_V8_COVERAGE: undefined },
  }).then(({ status, stdout, stderr }) => {
    assert.equal(status, 0, stderr)
    return join(packages, stdout.trim().split('\n').at(-1) ?? '')
  })
  return archiveMade
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
    const archive = await packed()
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
    assert.equal(columns(documents, 'kind'), 'Service, Deployment, NetworkPolicy, PersistentVolumeClaim, Job')
    const { spec } = documents[4]
    const [volume] = spec.template.spec.volumes
    assert.equal(volume.persistentVolumeClaim.claimName, documents[3].metadata.name)
    assert.ok(spec.activeDeadlineSeconds > 0 && spec.ttlSecondsAfterFinished > 0)
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
    assert.equal(settings.run, documents[4].metadata.name)
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

const onAws = 'fleet files spring-test --boxes 3xc7g.large --region eu-west-1 --ttl 90m'
const asBoxes =
  '-- --host clustercfg.items.abc123.euw1.cache.amazonaws.com --tls --cluster -q 3000000 -t 3 --iam bench'

describe('EC2', { concurrency: 2 }, () => {
  test('the price is said and nothing written; then a template, and three lines', async (t) => {
    const out = ownFolder(t, 'aws')
    const dry = await runCommand(t, `${onAws} --dry-run --out ${out} ${asBoxes}`, { out: false })
    assert.equal(dry.code, 0, dry.stderr)
    // Three boxes at 0.073 and the control at 0.0168, for an hour and a half.
    assert.match(
      dry.stdout,
      /^3 boxes of c7g\.large \(spot\): 0\.24 USD an hour .*at most 0\.35 until the boxes end themselves/,
    )
    assert.deepEqual(readdirSync(out), [])
    const { stdout } = await runCommand(t, `${onAws} --out ${out} ${asBoxes}`, { out: false })
    const lines = stdout.trim().split('\n').slice(-3)
    assert.deepEqual(
      lines.map((line) => line.split(/\s+/)[0]),
      ['start', 'watch', 'end'],
    )
    const path = join(out, 'spring-test/template.yaml')
    // The short forms of functions are tags.
    const template = parse(readFileSync(path, 'utf8'), { logLevel: 'error' })
    const boxes = Object.keys(template.Resources).filter((name) => /^Box\d+$/.test(name))
    assert.deepEqual(boxes, ['Box1', 'Box2', 'Box3'])
    const { LaunchTemplateData: made } = template.Resources.BoxTemplate.Properties
    assert.equal(made.InstanceInitiatedShutdownBehavior, 'terminate')
    assert.equal(made.InstanceMarketOptions.MarketType, 'spot')
    for (const name of ['Control', ...boxes])
      assert.ok(template.Resources.LastResort.Properties.Target.Input.includes(`\${${name}}`))
    const [header, script] = made.UserData['Fn::Base64'][1]
    assert.match(
      header,
      /export RUN='spring-test' ENDS_IN='90' OPTIONS='--host clustercfg.* -t 3 --iam bench'/,
    )
    assert.equal(`#!/bin/bash\n${script}`.trim(), text('user-data.sh').trim())
    assert.ok(Buffer.byteLength(header + script) < 16_384, 'user data of EC2')
    assert.ok(statSync(path).size < 51_200, 'a template without a bucket')
  })

  test('an option that a box would split is refused', async (t) => {
    const words = [...onAws.split(' '), '--dry-run', '--', '--host', 'h', '--out', 'a b']
    const { code, stderr } = await runCommand(t, words, { out: false })
    assert.equal(code, 2)
    assert.match(stderr, /^options of the boxes have letters/)
  })

  test('cfn-lint finds nothing in the template, and does find faults', async (t) => {
    const python = peer(t, 'cfn-lint')
    if (!python) return
    const program = join(dirname(python), 'cfn-lint')
    const out = ownFolder(t, 'aws')
    const paths = []
    for (const [name, more] of [
      ['spring-test', ''],
      ['b', ',on-demand'],
    ]) {
      const line = `fleet files ${name} --boxes 3xc7i.large${more} --out ${out} ${asBoxes}`
      assert.equal((await runCommand(t, line, { out: false })).code, 0)
      paths.push(join(out, name, 'template.yaml'))
    }
    const { status, stdout, stderr } = await run(python, [program, '--regions', 'eu-west-1', '--', ...paths])
    assert.deepEqual([status, stdout], [0, ''], stdout + stderr)
    const [path] = paths
    writeFileSync(path, readFileSync(path, 'utf8').replace('InstanceType: t3.small', 'InstanceTyp: t3.small'))
    assert.notEqual((await run(python, [program, '--', path])).status, 0)
  })

  test('user data sets a box up, which joins, hands its results to S3 and asks to be shut down', async (t) => {
    const python = peer(t, 'moto')
    if (!python) return
    const { endpoint, env: awsEnv } = await startMoto(t, python)
    const [target, control] = [await startServer(t), await startServer(t)]
    const home = ownFolder(t, 'ec2')
    const box = join(home, 'box')
    const bin = join(home, 'bin')
    mkdirSync(bin)
    // What a machine of EC2 has: the AWS program as far as it is used, and a shutdown that is only noted.
    const aws = `#!${python}
import boto3, os, sys
words = [word for word in sys.argv[1:] if not word.startswith('--')]
s3 = boto3.client('s3', region_name='eu-west-1')
assert words[:2] == ['s3', 'cp'], words
source, to = words[2:]
where = lambda url: url[5:].split('/', 1)
if source.startswith('s3://'): s3.download_file(*where(source), to)
else:
    bucket, prefix = where(to)
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            s3.upload_file(path, bucket, prefix + os.path.relpath(path, source))
`
    for (const [name, content] of [
      ['aws', aws],
      ['shutdown', `#!/bin/bash\necho "$@" >>'${home}/shutdown'\n`],
    ]) {
      writeFileSync(join(bin, name), content)
      chmodSync(join(bin, name), 0o755)
    }
    const env = {
      ...testEnvironment(process.env),
      ...awsEnv,
      NODE_V8_COVERAGE: undefined,
      PATH: `${bin}:${process.env.PATH}`,
      npm_config_prefer_offline: 'true',
    }
    const archive = await packed()
    const bucket = `
import boto3, sys
s3 = boto3.client('s3', region_name='eu-west-1')
if sys.argv[1] == 'make':
    s3.create_bucket(Bucket='results', CreateBucketConfiguration={'LocationConstraint': 'eu-west-1'})
    s3.upload_file(sys.argv[2], 'results', 'millrace.tgz')
else: print('\\n'.join(one['Key'] for one in s3.list_objects_v2(Bucket='results')['Contents']))
`
    const made = await run(python, ['-c', bucket, 'make', archive], { env })
    assert.equal(made.status, 0, `${endpoint}: ${made.stderr}`)
    const options = optionsFor(target).replace('-t 2', '-t 1')
    const given = {
      ...{ PACKAGE: 's3://results/millrace.tgz', RESULTS: 's3://results/by-ec2', ENDS_IN: '90', ROOT: box },
      ...{ RUN: 'by-ec2', CONTROL: urlOf(control), OPTIONS: options },
    }
    const set = await run('bash', [join(folder, 'user-data.sh')], { env: { ...env, ...given } })
    if (
      set.status !== 0 &&
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(set.stderr) &&
      !process.env.CI
    )
      return t.skip('the packages that it needs cannot be fetched')
    assert.equal(set.status, 0, set.stderr)
    assert.equal(readFileSync(join(home, 'shutdown'), 'utf8'), '-h +90\n')
    // As systemd would, by the unit and its settings.
    const state = join(box, 'var/lib/millrace')
    mkdirSync(state, { recursive: true })
    const start = `set -a; . '${box}/etc/millrace/box.env'; set +a; cd '${state}'; exec '${box}/opt/millrace/node_modules/.bin/millrace' write $BOX_OPTIONS`
    const played = await run('sh', ['-c', start], {
      env: { ...env, REDIS_PASSWORD: target.password, XDG_RUNTIME_DIR: home },
    })
    assert.ok(played.status === 0 || played.status === 4, played.stderr)
    assert.match(
      readFileSync(join(box, 'etc/systemd/system/millrace-box.service.d/end.conf'), 'utf8'),
      /^ExecStopPost=\+\/opt\/millrace\/end\.sh$/m,
    )
    const ended = (/** @type {string} */ result) =>
      run('bash', [join(box, 'opt/millrace/end.sh')], { env: { ...env, SERVICE_RESULT: result } })
    assert.equal((await ended('signal')).status, 0, 'a box that was killed is started again')
    assert.equal(readFileSync(join(home, 'shutdown'), 'utf8'), '-h +90\n')
    const { status, stderr } = await ended('exit-code')
    assert.equal(status, 0, stderr)
    assert.equal(readFileSync(join(home, 'shutdown'), 'utf8'), '-h +90\n-h now\n')
    const { stdout: keys } = await run(python, ['-c', bucket, 'list'], { env })
    assert.match(keys, /^by-ec2\/[^/]+\/[^\n]*run\.json$/m)
  })
})
