// `millrace completion`: what bash and zsh need to complete commands, options and their values.

import { OptionError } from '../../base/errors.js'
import { plainText } from '../../base/units.js'
import { dashed, namesOf } from '../../options/command-line.js'

/** @import { Command } from '../commands.js' */

const shells = ['bash', 'zsh']

/** One command's branches of the script. @param {string} name @param {Command} command */
const branchOf = (name, { options, passed = [], words }) => {
  const all = [...options, ...passed].filter(({ hidden }) => !hidden)
  const values = all
    .filter(({ choices }) => choices !== undefined)
    .map((option) => {
      const cases = namesOf(option).map((one) => `"${name} ${dashed(one)}"`)
      return `    ${cases.join('|')}) list='${option.choices?.join(' ')}' ;;`
    })
  const names = [...new Set([...all.map((option) => `--${option.name}`), '--help'])]
  const own = words?.() ?? []
  return { values, names: `    ${name}) options='${names.join(' ')}' words='${own.join(' ')}' ;;` }
}

/** @param {readonly string[]} names of all commands @param {{ values: string[], names: string }[]} branches */
const scriptOf = (names, branches) => `# millrace completion: eval "$(millrace completion bash)", or zsh
_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  local list='' options='' words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names.join(' ')} help --help --version' -- "$current"))
    return
  fi
  case "$command $previous" in
${branches.flatMap(({ values }) => values).join('\n')}
  esac
  case "$command" in
${branches.map(({ names }) => names).join('\n')}
  esac
  [ -n "$list" ] || case "$current" in
    -*) list="$options" ;;
    *) list="$words" ;;
  esac
  COMPREPLY=($(compgen -W "$list" -- "$current"))
}
complete -o default -F _millrace millrace
`

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
  work: async ({ typed: { words }, commands }) => {
    const [shell] = words
    if (words.length !== 1 || !shells.includes(shell))
      throw new OptionError(
        `completion takes bash or zsh${shell === undefined ? '' : `, not '${plainText(words.join(' ')).slice(0, 40)}'`}`,
      )
    const branches = await Promise.all(
      Object.entries(commands).map(async ([name, { load }]) => branchOf(name, (await load()).command)),
    )
    const prelude =
      shell === 'zsh'
        ? 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n'
        : ''
    process.stdout.write(`${prelude}${scriptOf(Object.keys(commands), branches)}`)
    return 0
  },
}
