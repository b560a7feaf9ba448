// The files of a profile: profile.json, the workload file and the page; and what the terminal shows.
import { workloadOf, workloadText } from '../answers/profile/workload.js'
import { bytes, count, micros, plainText, rate, several, share } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { cell } from '../report/cells.js'
import { pageOf } from '../report/page/page.js'

/**
 * @import { Sections } from '../report/sections.js'
 * @import { Profile } from '../answers/profile/profile.js'
 * @typedef {ReturnType<typeof profileDocument>} ProfileDocument
 */

export const workloadFile = 'workload.yaml'

/** @param {Profile} profile */
export const profileDocument = (profile) => {
  const workload = workloadOf(profile)
  const { rate: perS, connections, assumptions, left_out, reply_bytes } = workload
  return {
    document: {
      ...profile,
      workload: { file: workloadFile, rate: perS, connections, reply_bytes, assumptions, left_out },
    },
    text: workloadText(profile, workload),
  }
}

/** 12,000, or 12,000 (11,000 to 13,000). @param {{ value: number, low: number, high: number } | null} estimate @param {(n: number) => string} [shown] */
const between = (estimate, shown = (n) => count(Math.round(n))) => {
  if (estimate === null) return cell('–', null)
  const { value, low, high } = estimate
  const isSure = high - low < 0.005 * Math.max(1, value)
  return cell(isSure ? shown(value) : `${shown(value)} (${shown(low)} to ${shown(high)})`, value)
}

/** @param {number | null} s */
const seconds = (s) =>
  s === null
    ? '–'
    : s >= 7200
      ? `${(s / 3600).toFixed(1)} h`
      : s >= 120
        ? `${(s / 60).toFixed(1)} min`
        : `${s.toFixed(1)} s`

/** @param {ProfileDocument['document']} document @param {string} folder @returns {Sections} */
export const profileSections = (document, folder) => {
  const { server, keys, patterns, commands, own, workload, complete } = document
  const encodings = (/** @type {Record<string, number>} */ counts) =>
    Object.entries(counts)
      .sort((a, b) => b[1] - a[1])
      .map(([name]) => name)
      .join(', ')
  const byMemory = [...patterns].sort((a, b) => (b.memory_bytes?.value ?? 0) - (a.memory_bytes?.value ?? 0))
  return {
    title: 'Profile of a server',
    question: 'Which keys are there, and which commands are sent?',
    verdict: {
      good: !document.interrupted,
      neutral: true,
      word: document.interrupted ? 'Interrupted' : 'Seen',
      sentence: `${several(keys, 'key')} of ${several(patterns.length + document.patterns_left_out, 'pattern')}, and ${rate(document.commands_per_s)} commands/s, in ${document.duration_s.toFixed(0)} s`,
    },
    highlights: [
      { label: 'commands', text: `${rate(document.commands_per_s)}/s` },
      { label: 'keys', text: count(keys) },
      { label: 'data', text: bytes(document.memory_bytes) },
    ],
    facts: [
      {
        label: 'servers',
        text: `${several(server.masters, 'master')} and ${several(server.replicas, 'replica')}, version ${server.versions.join(', ')}`,
      },
      {
        label: 'names seen',
        text: `${count(document.names_seen)}${complete ? ', all of them' : ' of a sample'}`,
      },
      {
        label: 'network',
        text: `${bytes(document.bytes_in_per_s)}/s in, ${bytes(document.bytes_out_per_s)}/s out`,
      },
      { label: 'server CPU', text: `${document.cpu_pct.toFixed(1)} % of a core` },
      {
        label: 'keys that go',
        text: `${rate(document.expired_per_s)}/s expire, ${rate(document.evicted_per_s)}/s are evicted; ${share(document.miss_ratio)} of reads find none`,
      },
      {
        label: 'clients',
        text: `${several(document.clients.connections, 'connection')}: ${document.clients.groups.map(({ name, connections }) => `${count(connections)} ${plainText(name)}`).join(', ')}`,
      },
      {
        label: 'looking took',
        text: `${count(own.commands)} commands, ${share(own.commands_share)} of all; ${share(own.cpu_share)} of a core`,
      },
      { label: 'assumed', text: workload.assumptions.join(' ') },
      ...(workload.left_out.length > 0
        ? [
            {
              label: 'left out',
              text: workload.left_out
                .slice(0, 10)
                .map(({ name, share: part, why }) => `${plainText(name)} (${share(part)}): ${why}`)
                .join('; '),
            },
          ]
        : []),
      { label: 'workload', text: `${folder}/${workload.file}` },
      { label: 'replay it', text: `millrace replay ${folder}/${workload.file}` },
    ],
    tables: [
      {
        title: 'Keys by memory',
        note: 'Intervals are of 95 %, from the sample.',
        answer: true,
        columns: [
          { title: 'pattern', left: true },
          { title: 'type', left: true },
          { title: 'keys' },
          { title: 'memory' },
          { title: 'bytes or elements' },
          { title: 'time left, median' },
          { title: 'encoding', left: true },
        ],
        rows: byMemory
          .slice(0, 50)
          .map((one) => [
            cell(plainText(one.pattern).slice(0, 80)),
            cell(one.type ?? 'not looked at'),
            between(one.keys),
            between(one.memory_bytes, bytes),
            between(one.size),
            cell(one.expiring === 0 ? 'stays' : seconds(one.left_s.median), one.left_s.median),
            cell(encodings(one.encodings)),
          ]),
      },
      {
        title: 'Commands',
        answer: true,
        columns: [
          { title: 'command', left: true },
          { title: 'per second' },
          { title: 'share' },
          { title: 'time of a call' },
        ],
        rows: commands
          .slice(0, 50)
          .map((one) => [
            cell(plainText(one.name)),
            cell(rate(one.per_s), one.per_s),
            cell(share(one.share), one.share),
            cell(micros(one.us_per_call), one.us_per_call),
          ]),
      },
    ],
    warnings: [
      ...(document.refused.length > 0
        ? [
            {
              text: `the server refused ${document.refused.map((one) => one.trim()).join(', ')}: what that says is left out`,
              serious: false,
            },
          ]
        : []),
      // What still fills or drains has lifetimes and numbers that a replay does not end at.
      ...(Math.abs(document.keys_per_s * document.duration_s) > keys / 20
        ? [
            {
              text: `the number of keys changed by ${count(Math.abs(document.keys_per_s * document.duration_s))} meanwhile: a replay ends at another number; look again when it is steady, and for longer than the keys live`,
              serious: false,
            },
          ]
        : []),
      ...(complete || keys === 0
        ? []
        : [
            {
              text: 'not all names were seen: patterns with few keys may be missing; a longer --duration or a larger --budget sees more',
              serious: false,
            },
          ]),
    ],
  }
}

/** @param {ProfileDocument} made @param {string} folder @returns {Promise<Record<string, string>>} */
export const profileFiles = async ({ document, text }, folder) => ({
  'profile.json': `${JSON.stringify(document, null, 2)}\n`,
  [workloadFile]: text,
  'profile.html': await pageOf(profileSections(document, folder), [], millraceVersion()),
})
