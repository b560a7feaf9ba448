// The files of a profile: profile.json, the workload file and the page; and what the terminal shows.
import { workloadOf, workloadText } from '../answers/profile/workload.js'
import { asPercent, bytes, count, plainText, rate, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { pageOf } from '../report/page/page.js'
import { adviceTables, profileTables } from './profile-tables.js'

/**
 * @import { Sections } from '../report/sections.js'
 * @import { advised } from '../answers/profile/advise.js'
 * @import { Profile } from '../answers/profile/profile.js'
 * @typedef {ReturnType<typeof profileDocument>} ProfileDocument
 */

const workloadFile = 'workload.yaml'

/** @param {Profile} profile @param {Awaited<ReturnType<typeof advised>> | null} [advice] */
export const profileDocument = (profile, advice = null) => {
  const workload = workloadOf(profile)
  const { rate: perS, connections, assumptions, left_out, reply_bytes, expected } = workload
  return {
    document: {
      ...profile,
      advice,
      workload: { file: workloadFile, rate: perS, connections, reply_bytes, expected, assumptions, left_out },
    },
    text: workloadText(profile, workload),
  }
}

/** @param {ProfileDocument['document']} document @param {string} folder @returns {Sections} */
export const profileSections = (document, folder) => {
  const { server, keys, patterns, own, workload, complete } = document
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
        text: `${several(server.masters, 'master')} and ${several(server.replicas, 'replica')}${server.replica_addresses.length > 0 ? ` (${server.replica_addresses.slice(0, 20).join(', ')})` : ''}, version ${server.versions.join(', ')}`,
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
        text: `${rate(document.expired_per_s)}/s expire, ${rate(document.evicted_per_s)}/s are evicted; ${asPercent(document.miss_ratio)} of reads find none`,
      },
      {
        label: 'clients',
        text: `${several(document.clients.connections, 'connection')}: ${document.clients.groups.map(({ name, connections }) => `${count(connections)} ${plainText(name)}`).join(', ')}; ${document.commands_per_read.toFixed(1)} commands a read`,
      },
      {
        label: 'profiling used',
        text: `${count(own.commands)} commands, ${asPercent(own.commands_share)} of all; ${asPercent(own.cpu_share)} of a core, ${asPercent(own.server_cpu_share)} of the servers' own CPU`,
      },
      ...(document.not_offered.length > 0
        ? [{ label: 'not offered', text: document.not_offered.join(', ') }]
        : []),
      { label: 'assumed', text: workload.assumptions.join(' ') },
      ...(workload.left_out.length > 0
        ? [
            {
              label: 'left out',
              text: workload.left_out
                .slice(0, 10)
                .map(({ name, share: part, why }) => `${plainText(name)} (${asPercent(part)}): ${why}`)
                .join('; '),
            },
          ]
        : []),
      { label: 'workload', text: `${folder}/${workload.file}` },
      { label: 'replay it', text: `millrace replay ${folder}/${workload.file}` },
    ],
    tables: [...profileTables(document), ...adviceTables(document.advice)],
    warnings: [
      ...document.remarks.map((text) => ({ text, serious: false })),
      ...(document.refused.length > 0
        ? [
            {
              text: `the server refused ${document.refused.join(', ')}: what that says is left out`,
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
              text: 'not all names were seen: patterns with few keys may be missing; a longer --duration or a larger --share sees more',
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
