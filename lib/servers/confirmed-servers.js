import { errorOf, TargetError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { endpointOf } from './address.js'
import { isLinkLocal } from './link-local.js'

/**
 * @import { Access } from './dial.js'
 *
 * @typedef {import('./topology.js').Layout & { epoch?: number, others?: string[] }} Layout
 * @typedef {ReturnType<typeof confirmedServersOf>} ConfirmedServers
 */

/** Redirects to an address that stays unconfirmed for so long end the run. */
export const strayLimitMs = 5000
// Without one for so long, the next is counted from anew.
const forgottenMs = 1000

/** The error that ends a run which would have to use a server that was not checked. */
export class UnconfirmedError extends TargetError {
  /** @param {string} message @param {unknown} [cause] */
  constructor(message, cause) {
    super(message, { code: 'UNCONFIRMED', cause })
  }
}

const isLoopback = (/** @type {string} */ host) => /^(localhost|127\.|::1$)/.test(host)
const isSameHost = (/** @type {string} */ a, /** @type {string} */ b) =>
  a === b || (isLoopback(a) && isLoopback(b))

/**
 * Replicas that a single server names in INFO chose that name themselves: without TLS nothing proves it, and one on another
 * host would be sent the password.
 * @param {Access} access
 * @param {boolean} mayBeNamed `--allow named-hosts`
 */
export const replicaRule = ({ password, tls }, mayBeNamed) => {
  const isSafe = mayBeNamed || !password || Boolean(tls && tls.rejectUnauthorized !== false)
  return (/** @type {string} */ replica, /** @type {string} */ master) => {
    const [host, named] = [replica, master].map((address) => endpointOf(address).host)
    if (isLinkLocal(host) && !isLinkLocal(named)) return false
    return isSafe || isSameHost(host, named)
  }
}

/** A certificate that is not accepted now will not be later either. @param {unknown} error */
const isFinal = (error) => {
  if (!(error instanceof TargetError)) return false
  if (error.code === 'FOREIGN' || error instanceof UnconfirmedError) return true
  const { code = '', message = '' } = errorOf(error.cause)
  return /CERT|ALTNAME|self.signed|unable to (get|verify)/i.test(`${code} ${message}`)
}

/** Only a user who is there may send us to the machine's own link. @param {string} typed */
const linkCheck = (typed) => (/** @type {string} */ address) => {
  if (!isLinkLocal(endpointOf(address).host) || isLinkLocal(typed)) return
  throw new UnconfirmedError(
    `the servers name ${plainText(address)}, a link-local address, which was not connected to; correct what they announce`,
  )
}

/** Addresses that redirects name and nothing was admitted at, with the time since when. @param {() => number} clock */
const straysOf = (clock) => {
  /** @type {Map<string, { sinceMs: number, lastMs: number }>} */
  const strays = new Map()
  return {
    /** Whether redirects have named it for long. @param {string} address */
    isLasting(address) {
      const nowMs = clock()
      const seen = strays.get(address)
      if (!seen || nowMs - seen.lastMs > forgottenMs) {
        strays.set(address, { sinceMs: nowMs, lastMs: nowMs })
        return false
      }
      seen.lastMs = nowMs
      return nowMs - seen.sinceMs > strayLimitMs
    },
  }
}

/** @param {{ clock: () => number, typed?: string }} needs typed: the host that the user named */
export const confirmedServersOf = ({ clock, typed = '' }) => {
  const checkLink = linkCheck(typed)
  /** @type {Set<string>} the password may go there */
  const named = new Set()
  /** @type {Set<string>} items may go there */
  const admitted = new Set()
  const strays = straysOf(clock)
  /** @type {Map<string, unknown>} why a master without slots was not admitted */
  const faults = new Map()
  /** @type {((address: string, layout: Layout) => Promise<void>) | null} */
  let check = null
  let end = (/** @type {string} */ _reason) => {}
  let hasEnded = false

  const refuse = (/** @type {string} */ reason) => {
    if (hasEnded) return
    hasEnded = true
    end(reason)
  }
  /** @param {string} address @param {Layout} layout */
  const admit = async (address, layout) => {
    if (admitted.has(address)) return
    checkLink(address)
    named.add(address)
    await check?.(address, layout)
    admitted.add(address)
  }

  return {
    mayConnect: (/** @type {string} */ address) => named.has(address),
    isAdmitted: (/** @type {string} */ address) => admitted.has(address),
    /** The user, a sentinel or a confirmed server's map gives this address. @param {string} address */
    name(address) {
      checkLink(address)
      named.add(address)
    },

    /** The servers at the start of the run, which preflight checks itself. @param {Layout} layout */
    begin({ nodes }) {
      for (const { address } of nodes) {
        checkLink(address)
        named.add(address)
        admitted.add(address)
      }
    },

    /**
     * Checks every new master from now on.
     * @param {(address: string, layout: Layout) => Promise<void>} newcomer rejects when nothing may be written there
     */
    checkWith(newcomer) {
      check = newcomer
    },
    /** @param {(reason: string) => void} then called once, when the run cannot go on */
    endWith(then) {
      end = then
    },

    /** Resolves when items may go to all masters of a layout. @param {Layout} layout */
    async review(layout) {
      try {
        for (const { address } of layout.nodes) checkLink(address)
        for (const address of layout.masters) await admit(address, layout)
      } catch (error) {
        if (isFinal(error)) refuse(errorOf(error).message)
        throw error
      }
      for (const { address, role } of layout.nodes) {
        if (role !== 'replica') continue
        named.add(address)
        admitted.add(address)
      }
      // A new shard owns no slots yet, but slots that move to it are redirected there.
      for (const address of layout.others ?? []) {
        await admit(address, layout).then(
          () => faults.delete(address),
          (error) => faults.set(address, error),
        )
      }
    },

    /** Call when the servers' answers about the topology could not be used. @param {unknown} error */
    failed(error) {
      if (isFinal(error)) refuse(errorOf(error).message)
    },

    /** Whether a redirect may be followed. @param {string} from @param {string} to */
    follows(from, to) {
      if (admitted.has(to)) return true
      if (strays.isLasting(to)) {
        const fault = faults.get(to)
        const why = fault instanceof Error ? fault.message : "the cluster's own map does not name it"
        refuse(`${from} redirects to ${plainText(to)}, and nothing was sent there: ${why}`)
      }
      return false
    },
  }
}
