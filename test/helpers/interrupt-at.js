// Loaded into a program before its own code: it is interrupted when it writes the text of TEST_INTERRUPT_AT to its log.
const write = process.stderr.write.bind(process.stderr)
process.stderr.write = /** @type {typeof write} */ (
  (/** @type {any[]} */ ...args) => {
    if (String(args[0]).includes(String(process.env.TEST_INTERRUPT_AT))) process.kill(process.pid, 'SIGINT')
    return /** @type {any} */ (write)(...args)
  }
)
