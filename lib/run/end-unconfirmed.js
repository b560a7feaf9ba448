// Ends a run that could only go on with a server that was not checked.

/**
 * @param {Pick<import('../servers/open.js').Target, 'admission'>} target
 * @param {(kind: string, text: string) => void} note
 * @param {(warning: import('../result/warnings.js').Warning) => void} warn
 * @param {() => void} stop
 */
export const endUnconfirmed = ({ admission }, note, warn, stop) =>
  admission.endWith((message) => {
    note('unconfirmed', message)
    warn({ code: 'unconfirmed', message: `the run was ended: ${message}`, invalidates: true })
    stop()
  })
