import type { Command, CommandEntry, CommandResult, Option } from "./command.ts";
import { commonOptions } from "./shared-options.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** `gwc completion`: prints a script that completes command lines of gwc in a shell. */
export function completionOf(commands: readonly CommandEntry[]): Command {
  return {
    minPositionals: 1,
    maxPositionals: 1,
    details:
      "SHELL is bash, zsh or fish. The script completes commands, options, their values, and files.\n" +
      "  bash  add to ~/.bashrc:  source <(gwc completion bash)\n" +
      "  zsh   add to ~/.zshrc, after compinit:  source <(gwc completion zsh)\n" +
      "  fish  gwc completion fish > ~/.config/fish/completions/gwc.fish",
    options: [],
    examples: ["gwc completion bash"],
    work: ({ positionals: [shell = ""] }) => writeCompletion(shell, commands),
  };
}

interface Completed extends CommandEntry {
  readonly options: readonly Option[];
}

async function writeCompletion(
  shell: string,
  commands: readonly CommandEntry[],
): Promise<CommandResult> {
  const known = SHELLS.find((each) => each === shell);
  if (known === undefined)
    return {
      exitCode: 2,
      stderr: `error: there is no completion for "${shell}"\nhint: shells: ${SHELLS.join(", ")}\n`,
    };
  const all = await Promise.all(
    commands.map(async (entry) => {
      const { options } = await entry.load();
      return { ...entry, options: [...options, ...commonOptions] };
    }),
  );
  return { exitCode: 0, stdout: SCRIPTS[known](all) };
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

function bashScript(all: readonly Completed[]): string {
  const words = (list: readonly string[]) =>
    `COMPREPLY=($(compgen -W "${list.join(" ")}" -- "$word"))`;
  const values = all.flatMap(({ name, options }) =>
    options.flatMap((option) =>
      option.choices === undefined
        ? []
        : `    "${name} --${option.name}") ${words(option.choices)}; return ;;`,
    ),
  );
  const options = all.map(
    ({ name, options: own }) =>
      `    "${name} -"*) ${words(own.map((option) => `--${option.name}`))}; return ;;`,
  );
  return `_gwc() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${words(all.map(({ name }) => name))}
    return
  fi
  case "$command $before" in
${values.join("\n")}
  esac
  case "$command $word" in
${options.join("\n")}
  esac
  COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _gwc gwc
`;
}

function zshScript(all: readonly Completed[]): string {
  const entries = all.map(({ name, summary }) => `    ${zshWord(`${name}:${summary}`)}`);
  const cases = all.map(({ name, options }) => {
    const specs = options.map((option) => {
      const { name: long, value, choices, summary } = option;
      const text = `--${long}[${summary.replaceAll(/[[\]]/g, "\\$&")}]`;
      if (value === undefined) return zshWord(text);
      const values = choices === undefined ? "_files" : `(${choices.join(" ")})`;
      return zshWord(`${text}:${value}:${values}`);
    });
    return `    ${name}) _arguments ${specs.join(" ")} '*:file:_files' ;;`;
  });
  return `#compdef gwc
_gwc() {
  local -a commands=(
${entries.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
compdef _gwc gwc
`;
}

function zshWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishScript(all: readonly Completed[]): string {
  const lines = all.flatMap(({ name, summary, options }) => [
    `complete -c gwc -n __fish_use_subcommand -f -a ${name} -d ${fishWord(summary)}`,
    ...options.map((option) => {
      const values =
        option.value === undefined
          ? ""
          : option.choices === undefined
            ? " -r"
            : ` -x -a ${fishWord(option.choices.join(" "))}`;
      const short = option.short === undefined ? "" : ` -s ${option.short}`;
      const text = fishWord(option.summary);
      return `complete -c gwc -n '__fish_seen_subcommand_from ${name}'${short} -l ${option.name}${values} -d ${text}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

function fishWord(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
