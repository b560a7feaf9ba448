// How a target lets us in: name, password, certificates.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { errorOf, OptionError, unreadable } from '../base/errors.js'

/**
 * @import { SecureContextOptions } from 'node:tls'
 * @import { Settings } from '../../settings.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { Access } from './dial.js'
 */

/** @param {string | undefined} path @param {string} option */
const fileFor = (path, option) => {
  if (path === undefined) return undefined
  try {
    return readFileSync(path)
  } catch (cause) {
    throw unreadable(path, cause, option)
  }
}

/** @param {unknown} error */
const opensslReason = (error) => {
  const { code, message } = errorOf(error)
  if (/passphrase|bad (password|decrypt)/i.test(`${code} ${message}`))
    return 'it is encrypted; take the passphrase off'
  return code ?? message
}

/**
 * Checks a file with OpenSSL, so that a bad one is refused by the name of its option and not by a failing connection.
 * @param {SecureContextOptions} parts
 * @param {string} option
 * @param {string} what
 */
const checkFile = (parts, option, what) => {
  try {
    createSecureContext(parts)
  } catch (cause) {
    throw new OptionError(`${option}: ${what} (${opensslReason(cause)})`, { cause })
  }
}

const certificate = /-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----/

/** @param {Pick<Settings, 'caFile' | 'certFile' | 'keyFile'> & { tlsInsecure?: boolean }} settings */
export const tlsOfFiles = ({ caFile, certFile, keyFile, tlsInsecure }) => {
  const ca = fileFor(caFile, '--ca')
  const cert = fileFor(certFile, '--cert')
  const key = fileFor(keyFile, '--key')
  // OpenSSL reads an empty list of authorities as none.
  if (ca && !certificate.test(ca.toString('latin1')))
    throw new OptionError(`--ca: no certificate in ${caFile}`)
  if (ca) checkFile({ ca }, '--ca', `no certificate that can be read in ${caFile}`)
  if (cert) checkFile({ cert }, '--cert', `no certificate that can be read in ${certFile}`)
  if (key) checkFile({ key }, '--key', `no private key that can be read in ${keyFile}`)
  if (cert && key) checkFile({ cert, key }, '--key', `${keyFile} is not the key of ${certFile}`)
  return { ca, cert, key, ...(tlsInsecure && { rejectUnauthorized: false }) }
}

/** The first line of the file. @param {string} path */
const passwordIn = (path) => {
  const [line] = String(fileFor(path, '--password-file')).split(/\r?\n/, 1)
  if (line === '') throw new OptionError(`--password-file: the first line of ${path} is empty`)
  return line
}

/** @param {Settings} settings @returns {Access} */
export const accessOf = (settings) => ({
  username: settings.username,
  password: settings.passwordFile === undefined ? settings.password : passwordIn(settings.passwordFile),
  db: settings.db,
  tls: settings.tls ? tlsOfFiles(settings) : null,
})

/** Warnings about how the target is accessed. @param {Pick<Settings, 'tlsInsecure'>} settings @returns {Warning[]} */
export const accessWarnings = ({ tlsInsecure }) =>
  tlsInsecure
    ? [
        {
          code: 'tls-insecure',
          message:
            '--tls-insecure: no certificate is checked, so anyone on the network path can read the password and change every answer',
          invalidates: false,
        },
      ]
    : []
