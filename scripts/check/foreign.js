// Another application, as a process of its own: asks each address at a rate until it is ended.
// node foreign.js '{"addresses": ["host:port"], "password": "", "kind": "get", "hz": 500, "pipeline": 1}'
import { connect } from 'node:net'

const { addresses, password, kind, hz, pipeline = 1 } = JSON.parse(process.argv[2])
const stepMs = 2
const sockets = 8

/** @param {...(string | number)} words */
const encoded = (...words) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join('')}`

/** @param {string} address */
const opened = (address) => {
  const [host, port] = address.split(':')
  const socket = connect({ host, port: Number(port), noDelay: true })
  socket.on('error', () => {})
  socket.resume()
  if (password) socket.write(encoded('AUTH', password))
  return socket
}

/** @type {Record<string, () => string>} */
const asks = {
  get: () => encoded('GET', `item:${1 + Math.floor(Math.random() * 2000)}`),
  hget: () => encoded('HGET', 'foreign:hash', 'field'),
  mget: () => encoded('MGET', 'foreign:a', 'foreign:b'),
  ping: () => encoded('PING'),
  info: () => encoded('INFO'),
  large: () => encoded('GET', 'foreign:large'),
  publish: () => encoded('PUBLISH', 'foreign:channel', 'x'.repeat(40)),
}

const pools = addresses.map((/** @type {string} */ address) => {
  if (kind === 'monitor') opened(address).write(encoded('MONITOR'))
  const all = Array.from({ length: sockets }, () => opened(address))
  if (kind === 'large') {
    for (const one of all) one.write(encoded('SELECT', 5))
    all[0].write(encoded('SET', 'foreign:large', 'x'.repeat(100_000), 'EX', 600))
  }
  if (kind === 'publish')
    for (let n = 0; n < 50; n++) opened(address).write(encoded('SUBSCRIBE', 'foreign:channel'))
  if (kind.endsWith('get')) for (const one of all) one.write(encoded('READONLY'))
  return all
})

const startMs = performance.now()
let done = 0
setInterval(() => {
  if (kind === 'monitor') return
  const due = (((performance.now() - startMs) / 1000) * hz) / pipeline
  for (; done + 1 <= due; done++)
    for (const [at, pool] of pools.entries())
      if (kind === 'connect') opened(addresses[at]).end(encoded('PING'))
      else pool[done % sockets].write(asks[kind]().repeat(pipeline))
}, stepMs)
setTimeout(() => process.exit(), 60_000)
process.on('disconnect', () => process.exit())
