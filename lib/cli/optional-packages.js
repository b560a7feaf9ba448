// Packages that a single option needs. package.json names them as optional peers, so that only those who use the option
// install them.
import { readFileSync } from 'node:fs'
import { OptionError } from '../base/errors.js'

const packages = {
  '--cloudwatch': ['@aws-sdk/client-cloudwatch'],
  '--otlp': [
    '@opentelemetry/exporter-metrics-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-metrics',
  ],
}

/** @param {string} name */
const isMissing = (name) => {
  try {
    import.meta.resolve(name)
    return false
  } catch {
    return true
  }
}

/** With its major version, as npm install takes it. @param {string} name */
const wanted = (name) => {
  const { peerDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return `${name}@${/\d+/.exec(peerDependencies[name])}`
}

/**
 * Refuses an option whose packages are not installed, before anything is begun.
 * @param {keyof typeof packages} option
 * @param {string} [as] what the user typed
 */
export const needPackagesOf = (option, as = option) => {
  if (!packages[option].some(isMissing)) return
  const words = packages[option].map(wanted).join(' ')
  throw new OptionError(`${as} needs optional packages: npm install ${words} (with -g if Millrace has it)`)
}
