// Why a port cannot be opened, by the code of the error.
/** @type {Record<string, string>} */
export const listenReasons = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such name',
}
