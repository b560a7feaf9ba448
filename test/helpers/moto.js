// A stand-in for CloudWatch on loopback, and points in it.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch'
import { until } from './programs.js'
/** @import { Scope } from './servers.js' */

/** Where nothing is: what this machine's user has set up is not read. */
export const noAwsFiles = {
  AWS_CONFIG_FILE: fileURLToPath(new URL('no-aws-config', import.meta.url)),
  AWS_SHARED_CREDENTIALS_FILE: fileURLToPath(new URL('no-aws-credentials', import.meta.url)),
}

/** Credentials that moto takes, and nobody else. @param {string} endpoint */
export const awsEnv = (endpoint) => ({
  ...{ AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: 'testing', AWS_SECRET_ACCESS_KEY: 'testing' },
  ...{ AWS_EC2_METADATA_DISABLED: 'true', ...noAwsFiles },
})

/** @param {Scope} t @param {string} python of moto's folder */
export const startMoto = async (t, python) => {
  // It takes a port itself: one that is free now may be another program's when it has started.
  const words = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0']
  const child = spawn(python, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (said.length < 10_000) said += text
  })
  const endpoint = await until('the address of moto', () => {
    if (child.exitCode !== null) throw new Error(`moto ended: ${said}`)
    return /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
  })
  await until('moto answers', () => fetch(endpoint).catch(() => null))
  const credentials = { accessKeyId: 'testing', secretAccessKey: 'testing' }
  const client = new CloudWatchClient({ endpoint, region: 'eu-west-1', credentials })
  t.after(() => client.destroy())
  return {
    endpoint,
    env: awsEnv(endpoint),
    /** Removes all points. */
    clear: () => fetch(`${endpoint}/moto-api/reset`, { method: 'POST' }),
    /** @param {string} metric @param {Record<string, string>} dimensions @param {[epochMs: number, value: number][]} points */
    put: (metric, dimensions, points) => {
      const named = {
        MetricName: metric,
        Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
      }
      const MetricData = points.map(([t, Value]) => ({ ...named, Timestamp: new Date(t), Value }))
      return client.send(new PutMetricDataCommand({ Namespace: 'AWS/ElastiCache', MetricData }))
    },
  }
}
