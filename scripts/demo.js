#!/usr/bin/env node
// `npm start`: fifteen seconds of the main job on an embedded cluster, at a rate that suits the machine.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startChild } from '../lib/cli/child.js'

// Writing 25,000 items/s costs an embedded 3 + 3 cluster and the writer about an eighth of two cores.
const itemsPerCore = 25_000
const quantity = Math.min(200_000, itemsPerCore * availableParallelism())
const args = [
  '--cluster',
  '-q',
  String(quantity),
  '-t',
  '4',
  '-c',
  '4',
  '--duration',
  '15s',
  '--warm-up',
  '2s',
]

const producer = fileURLToPath(new URL('../producer.js', import.meta.url))
// What a user has set for real servers must not send a demonstration there.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(REDIS|MILLRACE)_|^SORTED_SET_/.test(name)),
)

process.stderr.write(`node producer.js ${args.join(' ')}\n`)
const child = startChild(producer, args, {
  env: { ...env, MILLRACE_NO_DOTENV: '1' },
  stdio: ['inherit', 'inherit', 'inherit'],
})
// Ctrl-C reaches the child by the terminal; it settles and writes its result.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('close', (code) => {
  process.stderr.write(
    '\nNext: node producer.js --help, or node producer.js -q 300000 -t 8 --cluster --duration 60\n',
  )
  process.exitCode = code ?? 1
})
