// A folder for results that cannot be made: one line with --out, before anything is measured.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { at, ownFolder } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

for (const line of [
  'write -q 10 -a all --duration 1s',
  'choose --rate 50',
  'calibrate',
  'profile --duration 1s',
  'compare sorted-set list -q 50',
])
  test(line, async (t) => {
    const server = await startServer(t)
    const own = ownFolder(t, 'out')
    writeFileSync(join(own, 'file'), 'mine')
    const { host, port, password } = server
    const env = /^(write|profile)/.test(line) ? at({ host, port, password }) : {}
    const { code, stdout, stderr } = await runCommand(t, line, { env, out: join(own, 'file', 'results') })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /--out \S*results\S*: the folder cannot be written \(ENOTDIR\)\n$/)
    assert.equal(stdout, '')
    assert.equal(readFileSync(join(own, 'file'), 'utf8'), 'mine')
    assert.equal(await server.redis.dbsize(), 0)
  })
