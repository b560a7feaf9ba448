// `millrace completion`: what bash and zsh need to complete commands, options and their values. The shell asks yargs each time.
import yargs from 'yargs'
import { namesOf } from '../../../settings.js'
import { OptionError } from '../../base/errors.js'
import { commandNamed, commands } from '../commands.js'

/** @import { Command } from '../commands.js' */

const shells = ['bash', 'zsh']

/** What the last word may be; the shell chooses by its letters. @param {readonly string[]} line with `millrace` in front */
export const offered = async (line) => {
  const page = yargs([]).help(false).version(false).option('help', {})
  const [, name] = line
  if (line.length < 3)
    for (const each of Object.entries({ ...commands, help: 'explains a command' })) page.command(...each)
  else if (Object.hasOwn(commands, name)) {
    const { options, passed = [], words } = await commandNamed(name)
    for (const word of words?.() ?? []) page.command(word, '')
    const all = [...options, ...passed]
    const settings = all.flatMap((option) => (option.with ? `${option.name}=` : []))
    for (const { hidden, choices, ...option } of all.filter((one) => !one.with)) {
      const values = option.type === 'named' ? settings : choices && [...choices]
      page.option(option.name, { alias: namesOf(option).slice(1), choices: values, hidden })
    }
  }
  return page.getCompletion([...line])
}

/** @type {Command} */
export const command = {
  about: {
    words: shells.join('|'),
    does: 'Prints the completion of commands, options and their values for a shell.',
    examples: [
      ['a line for ~/.bashrc', 'bash'],
      ['a line for ~/.zshrc', 'zsh'],
    ],
    more: 'Evaluate what it prints: eval "$(millrace completion bash)".',
  },
  options: [],
  isPrivate: true,
  takesWords: true,
  words: () => shells,
  work: async ({ typed: { words, separator } }) => {
    const [shell] = words
    // Behind -- is a line that a shell completes.
    if (separator !== null) process.stdout.write(`${(await offered(words)).join('\n')}\n`)
    else if (words.length !== 1 || !shells.includes(shell))
      throw new OptionError('completion takes bash or zsh')
    else {
      if (shell === 'zsh') process.stdout.write('autoload -U +X compinit && compinit\n')
      // By this yargs chooses.
      process.env.SHELL = shell
      yargs([]).scriptName('millrace').completion(`completion ${shell}`).showCompletionScript()
    }
    return 0
  },
}
