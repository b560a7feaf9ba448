// Why a port cannot be opened, by the code of the error.
export const listenReasons = /** @type {Record<string, string>} */ ({
  EADDRINUSE: 'the port is taken',
  EACCES: 'this user may not open that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such name',
})
