// Packages that a single option needs. package.json names them as optional peers, so that only those who use the option
// install them.
import { readFileSync } from 'node:fs'
import { OptionError } from './errors.js'

/** The servers and modules that millrace does not need itself. */
export const howToGetPeers = 'npm run setup:peers downloads it'

const packages = {
  '--cloudwatch': ['@aws-sdk/client-cloudwatch'],
  '--iam': ['@smithy/signature-v4', '@aws-sdk/credential-provider-node'],
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

/** What to install where packages are missing. @param {readonly string[]} names @param {string} as what the user typed */
export const wordsForMissing = (names, as) =>
  names.some(isMissing) &&
  `${as} needs optional packages: npm install ${names.map(wanted).join(' ')} (with -g if Millrace has it)`

/**
 * Refuses an option whose packages are not installed, before anything is begun.
 * @param {keyof typeof packages} option
 * @param {string} [as] what the user typed
 */
export const needPackagesOf = (option, as = option) => {
  const words = wordsForMissing(packages[option], as)
  if (words) throw new OptionError(words)
}
