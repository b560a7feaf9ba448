// Ends a run that could only go on with a server that was not checked.

/**
 * @import { Warning } from '../result/warnings.js'
 * @import { Target } from '../servers/open.js'
 */

/**
 * @param {Pick<Target, 'admission'>} target
 * @param {(kind: string, text: string) => void} note
 * @param {(warning: Warning) => void} warn
 * @param {() => void} stop
 */
export const endUnconfirmed = ({ admission }, note, warn, stop) =>
  admission.endWith((message) => {
    note('unconfirmed', message)
    warn({ code: 'unconfirmed', message: `the run was ended: ${message}`, invalidates: true })
    stop()
  })
