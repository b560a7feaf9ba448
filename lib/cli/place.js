// Where a command measures that starts local servers of its own unless it is given an address.

/** @import { ownOptions } from '../../settings.js' */

/**
 * The rows of its options.
 * @param {string} urlHelp
 * @param {readonly string[]} checks that it may skip
 * @returns {Parameters<typeof ownOptions>[1]}
 */
export const placeRows = (urlHelp, checks) => [
  {
    name: 'url',
    type: 'text',
    place: 'URL',
    insteadOf: ['host', 'port'],
    help: urlHelp,
  },
  { name: 'host', type: 'host', otherwise: 'local server', help: 'its name or address' },
  {
    name: 'port',
    type: 'integer',
    range: ['1', '65535'],
    otherwise: '6379',
    help: 'its port; alone, of this machine',
  },
  { name: 'cluster', type: 'flag', help: 'the server belongs to a cluster' },
  {
    name: 'allow',
    type: 'choices',
    default: 'none',
    choices: [...checks, 'none'],
    help: 'checks to skip, as in millrace write',
  },
]

/**
 * The options of a run there; null: on local servers.
 * @param {{ url?: string, host?: string, port?: number, cluster: boolean, allow: readonly string[] }} values
 * @param {NodeJS.ProcessEnv} env
 */
export const placeIn = ({ url, host, port, cluster, allow }, { REDIS_PASSWORD: password }) =>
  url === undefined && host === undefined
    ? null
    : {
        ...(url === undefined ? { host, port } : { url }),
        cluster,
        ...(allow.length > 0 && { allow }),
        ...(password && { password }),
      }
