// A reporter for node's test runner: a line for each file with a failure.

/** @param {AsyncIterable<{ type: string, data: { file?: string, name?: string } }>} source */
export default async function* failedFiles(source) {
  /** @type {Set<string>} */
  const told = new Set()
  for await (const { type, data } of source) {
    if (type !== 'test:fail') continue
    const file = [data.file, data.name].find((name) => name?.endsWith('.test.js'))
    if (!file || told.has(file)) continue
    told.add(file)
    yield `${file}\n`
  }
}
