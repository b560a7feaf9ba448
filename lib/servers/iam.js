// Login by IAM: a token in the place of a password, signed by AWS' own packages. ElastiCache takes it for 15 minutes. It is
// signed anew every few seconds, so that each new connection has a fresh one.
import { createHash, createHmac } from 'node:crypto'
import { errorOf, OptionError, TargetError } from '../base/errors.js'
import { needPackagesOf } from '../base/optional-packages.js'
import { endpointIn } from './elasticache.js'

/**
 * @import { SourceData } from '@smithy/types'
 * @import { Settings } from '../../settings.js'
 * @import { Access } from './dial.js'
 *
 * @typedef {object} Identity
 * @property {string} option that it comes from
 * @property {string} user of the cache
 * @property {string} cache name of the replication group or of the serverless cache
 * @property {string} region
 * @property {boolean} isServerless
 *
 * @typedef {{ accessKeyId: string, secretAccessKey: string, sessionToken?: string }} Credentials
 */

const service = 'elasticache'
const lifetimeS = 900
// A signature takes a third of a millisecond.
const renewEveryMs = 10_000
// ElastiCache ends a connection that has not logged in for 12 hours.
const loginAgainMs = 11 * 3_600_000

/** @param {SourceData} data */
const bytesOf = (data) =>
  typeof data === 'string'
    ? data
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data)

/** SHA-256, and HMAC with a secret, as the packages of AWS want it. */
class Sha256 {
  /** @param {SourceData} [secret] */
  constructor(secret) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  /** @param {SourceData} data */
  update(data) {
    this.hash.update(bytesOf(data))
  }
  async digest() {
    return new Uint8Array(this.hash.digest())
  }
  reset() {}
}

const packages = async () => {
  needPackagesOf('--iam')
  const [{ SignatureV4 }, { defaultProvider }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@aws-sdk/credential-provider-node'),
  ])
  return { SignatureV4, defaultProvider }
}

/**
 * A presigned request without its scheme, which ElastiCache and AWS' own clients use as the password.
 * @param {Omit<Identity, 'option'>} identity
 * @param {Credentials | (() => Promise<Credentials>)} credentials
 */
export const tokenSigner = async ({ user, cache, region, isServerless }, credentials) => {
  const { SignatureV4 } = await packages()
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, applyChecksum: false })
  const request = {
    method: 'GET',
    protocol: 'http:',
    hostname: cache,
    path: '/',
    headers: { host: cache },
    query: { Action: 'connect', User: user, ...(isServerless && { ResourceType: 'ServerlessCache' }) },
  }
  /** @param {Date} [signingDate] */
  return async (signingDate) => {
    const { query } = await signer.presign(request, {
      expiresIn: lifetimeS,
      ...(signingDate && { signingDate }),
    })
    const words = Object.entries(query ?? {}).map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
    )
    return `${cache}/?${words.join('&')}`
  }
}

/**
 * Who logs in where: from the options, the address and AWS_REGION.
 * @param {Pick<Settings, 'iam' | 'awsRegion' | 'host'>} settings
 * @param {NodeJS.ProcessEnv} env
 * @param {'--iam' | '--control'} [option] of the user
 * @returns {Identity}
 */
export const identityOf = ({ iam = '', awsRegion, host = '' }, env, option = '--iam') => {
  const [user, asked] = iam.split('@')
  const named = endpointIn(host)
  const cache = asked ?? (named?.kind === 'node' ? undefined : named?.id)
  if (cache === undefined)
    throw new OptionError(
      `${option}: ${host} does not name its cache; give the replication group or the serverless cache as ${option === '--iam' ? `--iam ${user}@CACHE` : `?iam=${user}@CACHE`}`,
    )
  const region = named?.region ?? awsRegion ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION
  if (!region) throw new OptionError(`${option}: ${host} does not name its region; set AWS_REGION`)
  return { option, user, cache: cache.toLowerCase(), region, isServerless: named?.kind === 'serverless' }
}

/** @param {unknown} error */
const firstLine = (error) => errorOf(error).message.split('\n', 1)[0]

/**
 * Access whose password is a token of the last seconds. What is copied of it has the token of that moment;
 * what lives longer asks `renewed`.
 * @param {Access} access
 * @param {Identity} identity
 * @param {object} needs
 * @param {Credentials | (() => Promise<Credentials>)} [needs.credentials]
 * @param {(line: string) => void} needs.say
 * @param {number} [needs.everyMs]
 * @returns {Promise<Access>}
 */
export const iamAccess = async (access, identity, { credentials, say, everyMs = renewEveryMs }) => {
  const { defaultProvider } = await packages()
  const sign = await tokenSigner(identity, credentials ?? defaultProvider())
  let token = await sign().catch((cause) => {
    throw new TargetError(`${identity.option} ${identity.user}: no AWS credentials (${firstLine(cause)})`, {
      code: 'CREDENTIALS',
      cause,
    })
  })
  /** @type {((token: string) => void)[]} */
  const listeners = []
  let isFailing = false
  const renew = async () => {
    try {
      token = await sign()
      isFailing = false
      for (const listener of listeners) listener(token)
    } catch (error) {
      if (!isFailing)
        say(
          `${identity.option} ${identity.user}: no new token (${firstLine(error)}); the last one is used until it expires`,
        )
      isFailing = true
    }
  }
  const timer = setInterval(renew, everyMs).unref()
  return Object.defineProperties(
    { ...access, username: identity.user },
    {
      password: { enumerable: true, get: () => token },
      loginAgainMs: { enumerable: true, value: loginAgainMs },
      renewed: { value: (/** @type {(token: string) => void} */ listener) => listeners.push(listener) },
      endRenewing: { value: () => clearInterval(timer) },
    },
  )
}
