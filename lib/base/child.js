// A program of Millrace that another one starts. A pipe connects them: its first line passes what an environment would show
// to every process of the user, and its end, which comes however the parent ends, ends the child.
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { OptionError } from './errors.js'

/** @import { StdioOptions } from 'node:child_process' */

const pipeFd = 3
const variable = 'MILLRACE_PARENT_FD'

/**
 * Starts a program that ends with this one.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {object} options
 * @param {NodeJS.ProcessEnv} options.env
 * @param {NodeJS.ProcessEnv} [options.secrets] variables that are handed over unseen
 * @param {StdioOptions & unknown[]} options.stdio of 0, 1 and 2
 * @param {boolean} [options.detached]
 */
export const startChild = (file, args, { env, secrets = {}, stdio, detached = false }) => {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...env, [variable]: String(pipeFd) },
    stdio: /** @type {any} */ ([...stdio, 'pipe']),
    detached,
  })
  const pipe = /** @type {Socket | undefined} */ (child.stdio[pipeFd])
  pipe?.on('error', () => {}) // it ended before it could read
  pipe?.write(`${JSON.stringify(secrets)}\n`)
  pipe?.unref()
  return child
}

/** @param {string} fd */
const pipeAt = (fd) => {
  try {
    return new Socket({ fd: Number(fd), readable: true, writable: false })
  } catch (cause) {
    throw new OptionError(`${variable} is for programs that start others; unset it`, { cause })
  }
}

/**
 * The child's side: the environment with what the parent has handed over.
 * @param {NodeJS.ProcessEnv} env
 * @param {() => void} onGone the parent has ended
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export const fromParent = ({ [variable]: fd, ...env }, onGone) =>
  new Promise((resolve) => {
    if (fd === undefined) {
      resolve(env)
      return
    }
    const pipe = pipeAt(fd)
    let text = ''
    pipe.setEncoding('utf8').on('data', (part) => {
      text += part
      const end = text.indexOf('\n')
      if (end < 0) return
      pipe.unref()
      resolve({ ...env, ...JSON.parse(text.slice(0, end)) })
    })
    pipe.on('error', () => {})
    pipe.on('close', () => {
      resolve(env)
      onGone()
    })
  })

/** A program without target and options of the caller. @param {NodeJS.ProcessEnv} env @returns {NodeJS.ProcessEnv} */
export const programsEnv = (env) => ({
  ...Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(REDIS|REDISCLI|VALKEY|MILLRACE)_|^SORTED_SET_/.test(name)),
  ),
  MILLRACE_NO_DOTENV: '1',
})
