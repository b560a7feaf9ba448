// How many cores a process may use where its cgroups limit its CPU.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { coresHere } from '../../lib/base/cores.js'

for (const [
  name,
  cgroup,
  files,
  cores,
] of /** @type {[string, string, Record<string, string>, number][]} */ ([
  ['no cgroups', '', {}, 8],
  ['v2 without a limit', '0::/\n', { 'cpu.max': 'max 100000\n' }, 8],
  ['v2', '0::/\n', { 'cpu.max': '350000 100000\n' }, 3],
  ['v2, less than a core', '0::/\n', { 'cpu.max': '50000 100000\n' }, 1],
  ['v2, more than there are', '0::/\n', { 'cpu.max': '1600000 100000\n' }, 8],
  [
    'v2, the cgroup around it has less',
    '0::/pod/own\n',
    { 'cpu.max': 'max 100000\n', 'pod/cpu.max': '200000 100000\n', 'pod/own/cpu.max': '400000 100000\n' },
    2,
  ],
  ['v2, by the path on its host', '0::/docker/1f\n', { 'cpu.max': '200000 100000\n' }, 2],
  [
    'v1',
    '5:memory:/own\n4:cpu,cpuacct:/own\n0::/\n',
    { 'cpu,cpuacct/own/cpu.cfs_quota_us': '400000\n', 'cpu,cpuacct/own/cpu.cfs_period_us': '100000\n' },
    4,
  ],
  [
    'v1 without a limit',
    '4:cpu,cpuacct:/\n',
    { 'cpu,cpuacct/cpu.cfs_quota_us': '-1\n', 'cpu,cpuacct/cpu.cfs_period_us': '100000\n' },
    8,
  ],
]))
  test(`cores here: ${name}`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-cgroup-'))
    t.after(() => rmSync(folder, { recursive: true }))
    for (const [file, text] of Object.entries({ self: cgroup, ...files })) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    assert.equal(coresHere({ folder, ofProcess: join(folder, 'self'), ofMachine: 8 }), cores)
  })
