// `millrace choose`: the data model, or the server version, that costs least at a load.
import { join } from 'node:path'
import { leastRounds } from '../../answers/choose/procedure.js'
import { candidatesAnswer, choose, chooseDocument } from '../../answers/choose/report.js'
import { turnoversOf } from '../../answers/choose/turnover.js'
import { readCalibration } from '../../answers/plan/calibration.js'
import { ExitCode, OptionError } from '../../base/errors.js'
import { count, rate as perSecond, plainData, plainText, several } from '../../base/units.js'
import { millraceVersion } from '../../base/version.js'
import { hardware } from '../../experiments/summary.js'
import { strategiesInBatches } from '../../loads/names-of-strategy.js'
import { refuseWords } from '../../options/command-line.js'
import { writeFiles } from '../../report/write-report.js'
import { intoOutFolder, runName } from '../../result/files.js'
import { commandLineOf } from '../again.js'
import { printAnswer } from '../answer.js'
import { modelOption } from '../calibration.js'
import { leastSecondsOf, playChoice, runsOf } from '../choose.js'
import { chooseOptions, chooseRequest } from '../choose-options.js'
import { settingsOfRun } from '../run-options.js'
import { screenSay } from '../say.js'
import { interruptsOfSeries } from '../signals.js'
import { withStrategies } from '../typed-strategies.js'
import { plannedLoad } from './plan.js'

/**
 * @import { ChooseAnswer } from '../../answers/choose/report.js'
 * @import { Command } from '../commands.js'
 * @import { Values } from '../../options/values.js'
 * @import { Calibration } from '../../answers/plan/calibration.js'
 * @import { Planned } from '../../answers/choose/turnover.js'
 * @import { Plan } from '../../loads/plan.js'
 * @import { About } from '../../options/help.js'
 */

/** @type {Omit<About, 'as'>} */
const chooseAbout = {
  words: '[STRATEGY...] --rate RATE',
  does: 'Chooses the data model that costs least at your load, of those that meet your needs: candidates run in blocks of random order, losers leave early, until one is best or those that remain cannot be told apart.',
  examples: [
    [
      'of those that keep the newest n and expire exactly',
      '--need newest-n,exact-expiry --rate 50k --value-size 200B',
    ],
    [
      'with a reader, and memory half as important as CPU',
      '--rate 20k --fetch-rate 10 --weigh cpu=1,memory=0.5',
    ],
    ['a model of your own among them', 'list stream ./feed.yaml --workload workload.yaml'],
    ['one model on several servers', 'list --across servers --rate 50k'],
    ['the policy of a cache', 'cache-aside --maxmemory 9MB --items 40k --rate 5k'],
  ],
  more: `Exit codes: 0 one is chosen (best, or the simplest of those that differ by less than 3 %), 98 cannot tell which is best, 4 no candidate has valid runs, 3 none can run on the servers. docs/choose.md says how it decides, and how sure that is.`,
}

/** @param {number} left s @param {number} candidates */
const promiseWords = (left, candidates) =>
  `${several(candidates, 'candidate')}: about ${several(Math.max(1, Math.round(left / 60)), 'minute')} at most`

const tickMs = 100
const usualMembers = 1000

/**
 * @param {Calibration} calibration
 * @param {ReturnType<typeof chooseRequest>['asked']} asked
 * @param {number} ttlS
 * @param {readonly { model: string }[]} candidates the chosen one first
 */
const turnoversIn = (calibration, { rate, load, files }, ttlS, candidates) => {
  const [first, ...others] = candidates
  return turnoversOf({
    chosen: first.model,
    others: others.map(({ model }) => model),
    rate,
    ttlS,
    calibration,
    planned: (strategy, at) => {
      const model = calibration.models.find(
        (/** @type {{ strategy: string }} */ one) => one.strategy === strategy,
      )
      if (!model) return null
      const members = Math.max(1, Math.min(usualMembers, Math.ceil((at * tickMs) / 1000)))
      const items = Math.max(1, Math.round(at * ttlS))
      return {
        model,
        plan: plannedLoad(
          model,
          { rate: at, items, members },
          { valueSize: load.valueSize, sortedSets: 1 },
          files,
        ),
      }
    },
  })
}

/** The settings of a run of a candidate: options that are wrong are refused before anything starts. @param {ReturnType<typeof chooseRequest>} request */
const checkedLoad = ({ candidates, asked }) => {
  const { rate, items, load, files } = asked
  const given = { host: '127.0.0.1', ...load, items, rate: Math.round(rate) }
  const all = candidates.map(({ model }) =>
    settingsOfRun(/** @type {any} */ ({ ...modelOption(model, files), ...given })),
  )
  return all[0].settings
}

/** @param {ChooseAnswer} answer */
const exitCodeOf = ({ state, candidates }) => {
  if (state === 'best' || state === 'same') return ExitCode.done
  if (state === 'unclear') return ExitCode.unclear
  return candidates.every(({ place }) => place === 'refused') ? ExitCode.target : ExitCode.invalid
}

/** @type {Command} */
export const command = {
  about: chooseAbout,
  options: chooseOptions,
  isPrivate: true,
  takesWords: true,
  placed: async (line) => withStrategies(line, { areSeveral: true, filesAre: 'strategy' }),
  words: () => strategiesInBatches(),
  work: async ({ settings, typed, env, as }) => {
    /** @type {Values} */
    const values = settings
    refuseWords(typed)
    const request = chooseRequest(values, env)
    const { needs, excluded, candidates, asked, across, maxmemory } = request
    const { ttlS } = checkedLoad(request)
    const calibration = values.calibration === undefined ? null : readCalibration(values.calibration)
    const servers = new Set(candidates.map(({ server }) => server)).size
    if (runsOf(asked, servers) < leastRounds * candidates.length)
      throw new OptionError(
        `--time ${asked.budgetS}s is too short for ${several(candidates.length, 'candidate')}: ${leastRounds} rounds take ${Math.ceil(leastSecondsOf(asked, candidates.length, servers))} s; give more time, fewer candidates or a lower --items`,
      )
    const promise = promiseWords(asked.budgetS, candidates.length)
    if (values.dryRun) {
      const names = candidates.map(({ name }) => plainText(name)).join(', ')
      process.stdout.write(
        `${names}\n${excluded.map(({ name, unmet }) => `not a candidate: ${plainText(name)} does not meet ${unmet.join(', ')}\n`).join('')}${promise}\n`,
      )
      return ExitCode.done
    }
    const startedMs = Date.now()
    const folder = join(values.out, runName(startedMs, 'choose'))
    const played = await intoOutFolder(folder, () => {
      screenSay(promise)
      return playChoice({
        asked,
        candidates,
        say: screenSay,
        stop: interruptsOfSeries(),
        clock: () => performance.now(),
      })
    })
    const { decision, runs, rate, versions, tookS } = played
    const found = { candidates, decision, runs }
    const ranked = candidatesAnswer(found).filter(({ place }) => place !== 'refused')
    const answer = chooseDocument(
      {
        started: new Date(startedMs).toISOString(),
        duration_s: Math.round(tookS * 10) / 10,
        command_line: commandLineOf(as, process.argv),
        versions: { millrace: millraceVersion(), node: process.versions.node, servers: versions },
        hardware: hardware(),
        asked: {
          needs,
          rate,
          items: played.items,
          ttl: String(asked.load.ttl ?? 'none'),
          value_size: String(asked.load.valueSize),
          reads: asked.reads && { per_s: asked.reads.perS, limit: asked.reads.limit },
          weigh: asked.weigh,
          across,
          ...(maxmemory !== undefined && { maxmemory }),
        },
        excluded,
        turnovers:
          calibration && decision.chosen !== null && across === 'models'
            ? await turnoversIn(calibration, asked, ttlS, ranked)
            : null,
        warnings: warningsOf(asked, played, ttlS),
      },
      found,
    )
    const plain = plainData(answer)
    await writeFiles(folder, await choose.files(plain))
    printAnswer(plain, values.json, choose.text)
    screenSay(`page: ${folder}/choose.html`)
    return exitCodeOf(plain)
  },
}

/** @param {ReturnType<typeof chooseRequest>['asked']} asked @param {Awaited<ReturnType<typeof playChoice>>} played @param {number} ttlS */
const warningsOf = (asked, { rate, runs }, ttlS) => {
  const alive = asked.configs ? 0 : Math.round(asked.rate * ttlS)
  const lost = runs.filter(({ counts }) => !counts).length
  return [
    ...(rate < asked.rate
      ? [
          `the load generator was the limit: all candidates ran at ${perSecond(rate)} of ${perSecond(asked.rate)} items/s`,
        ]
      : []),
    ...(alive > 2 * asked.items
      ? [
          `${count(asked.items)} items were alive in the runs, and ${count(alive)} are at this rate and ttl: --items measures with more, --calibration predicts`,
        ]
      : []),
    ...(lost > 0 ? [`${lost} of ${several(runs.length, 'run')} did not count`] : []),
    ...(asked.where === null
      ? [
          'local servers share the cores with the writer: ratios carry over to other machines, absolute numbers do not',
        ]
      : []),
  ]
}
