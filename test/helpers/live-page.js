// The stream of a live page, as the page itself follows it.
import assert from 'node:assert/strict'

/** @param {string} url of the page @returns {Promise<{ messages: any[], over: Promise<void> }>} over: at the end of the stream */
export const following = async (url) => {
  const response = await fetch(`${url}events`)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const messages = /** @type {any[]} */ ([])
  const over = (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const part of /** @type {any} */ (response.body)) {
      text += decoder.decode(part, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) messages.push(JSON.parse(frame.replace(/^(?:retry: \d+\n)?data: /, '')))
      // A page does not ask again after the end either; one that is opened then has it in its first message.
      if (messages.at(-1)?.verdict) return
    }
  })()
  return { messages, over }
}
