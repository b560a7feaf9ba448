// The Grafana dashboard of docs/examples: a real Prometheus scrapes a run, and answers the query of every panel.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePorts } from '../../lib/servers/embedded-servers.js'
import { startCommand } from '../helpers/command-here.js'
import { ownFolder, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

const file = new URL('../../docs/examples/grafana/millrace.json', import.meta.url)

/** Every query of the dashboard as Grafana sends it. @returns {{ title: string, query: string }[]} */
const queries = () =>
  JSON.parse(readFileSync(file, 'utf8')).panels.flatMap(
    (/** @type {{ title: string, targets: { expr: string }[] }} */ { title, targets }) =>
      targets.map(({ expr }) => ({
        title,
        query: expr.replaceAll('$run', '.*').replaceAll('$__rate_interval', '5s'),
      })),
  )

const isThere = spawnSync('prometheus', ['--version']).status === 0
const skip = isThere || process.env.CI === 'true' ? false : 'no prometheus here: apt-get install prometheus'

test('every query of the Grafana dashboard has an answer', { skip }, async (t) => {
  assert.ok(isThere, 'CI needs prometheus: .ci/run installs it')
  const server = await startServer(t)
  const [own, port] = (await freePorts(2, 'none')).map((one) => one.port)
  const folder = ownFolder(t, 'prometheus')
  const job = { job_name: 'millrace', static_configs: [{ targets: [`127.0.0.1:${own}`] }] }
  const config = { global: { scrape_interval: '1s' }, scrape_configs: [job] }
  // YAML takes JSON.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const prometheus = spawn(
    'prometheus',
    [
      ...[`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`],
      ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=error'],
    ],
    { stdio: 'ignore' },
  )
  const ended = new Promise((resolve) => prometheus.once('exit', resolve))
  t.after(() => {
    prometheus.kill()
    return ended
  })
  const run = startCommand(t, `write --rate 500 --duration 2m --metrics 127.0.0.1:${own}`, server)
  /** @param {string} query @returns {Promise<number[]>} */
  const answered = async (query) => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`
    const answer = await fetch(url).catch(() => null)
    // It starts.
    if (!answer || answer.status === 503) return []
    const { status, error, data } = /** @type {any} */ (await answer.json())
    assert.equal(status, 'success', `${query}: ${error}`)
    return data.result.map((/** @type {{ value: [number, string] }} */ { value }) => Number(value[1]))
  }
  for (const { title, query } of queries())
    await until(`${title}: ${query}`, async () => (await answered(query)).some(Number.isFinite))
  // Held against what the run itself reports.
  await until('Prometheus has 500 items/s', async () => {
    const [rate] = await answered('sum(millrace_rate_achieved)')
    return rate > 400 && rate < 600
  })
  run.kill('SIGINT')
  await run.ended
})
