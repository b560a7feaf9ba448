// The live page of a fleet, on a box and from elsewhere: what the control server has of the run, complete to its end.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { urlOf } from '../helpers/fleet.js'
import { following } from '../helpers/live-page.js'
import { at, ownFolder, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

test('a fleet: every box and every second on the page of a box and on that of millrace fleet serve', async (t) => {
  const [target, control] = [await startServer(t), await startServer(t)]
  const env = { ...at(target), MILLRACE_CONTROL: urlOf(control) }
  const line = 'write -q 600 -c 2 -t 3 --duration 7s --run seen'
  const out = ownFolder(t, 'fleet-page')
  const boxes = [0, 1, 2].map((i) =>
    startCommand(t, `${line}${i === 0 ? ' --dashboard' : ''}`, { env, out: join(out, String(i)) }),
  )
  const [, ofBox] = await boxes[0].says(/live page: (http:\S+\/)/)
  const onBox = await following(ofBox)
  await until('two seconds', () => onBox.messages.filter(({ kind }) => kind === 'second').length >= 2)
  const serving = startCommand(t, 'fleet serve seen', { env, out: false })
  const address = await until('its address', () => /http:\S+\//.exec(serving.stdout())?.[0])
  const elsewhere = await following(address)
  const ended = await Promise.all(boxes.map((box) => box.ended))
  for (const { code, stderr } of ended) assert.ok([0, 4].includes(Number(code)), stderr)
  const document = JSON.parse(readFileSync(join(out, '0', 'seen', 'run.json'), 'utf8'))
  await Promise.all([onBox.over, elsewhere.over])
  for (const { messages } of [onBox, elsewhere]) {
    // A page that is opened late has them all in its first message.
    const last = messages.findLast(({ kind }) => kind === 'second' || kind === 'whole')
    assert.equal(last.sums.acked, document.items.acked)
    assert.equal(last.sums.offered, document.items.offered)
    assert.equal(last.boxes.length, 3)
    assert.equal(columns(last.boxes, 'role'), 'writer 1, writer 2, writer 3')
    assert.equal(messages.at(-1).verdict.good, document.valid)
    assert.doesNotMatch(JSON.stringify(messages), new RegExp(`"hdr"|${control.password}`))
  }
  assert.equal(onBox.messages.at(-1).kind, 'end')
  const [whole] = elsewhere.messages
  assert.equal(whole.about.nominal, 600)
  serving.kill('SIGINT')
  assert.equal((await serving.ended).code, 0)
})

test('fleet serve: a run that the control does not know', async (t) => {
  const control = await startServer(t)
  const env = { MILLRACE_CONTROL: urlOf(control) }
  const { code, stderr } = await runCommand(t, 'fleet serve nothing', { env, out: false })
  assert.equal(code, 3)
  assert.match(stderr, /knows no run nothing/)
})
