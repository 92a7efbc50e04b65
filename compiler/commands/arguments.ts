import { parseArgs } from "node:util";
import { suggest } from "../diagnostics/suggestion.ts";
import type { Arguments, Command, CommandEntry, Option } from "./command.ts";
import { commonOptions, help } from "./shared-options.ts";

/** A parsed command line, a call for help, or a usage error. */
export type ReadArguments =
  | { readonly kind: "arguments"; readonly values: Arguments }
  | { readonly kind: "help" }
  | { readonly kind: "usage"; readonly problem: string; readonly hint?: string };

/** Parses the arguments of a command. */
export function readArguments(
  { name, positionals: words }: Pick<CommandEntry, "name" | "positionals">,
  command: Command,
  argv: readonly string[],
): ReadArguments {
  const known = [...command.options, ...commonOptions];
  const { tokens } = parseArgs({
    // No option begins with a digit or a bracket: `-7 / 2` is an expression.
    args: argv.map((word) => word.replace(/^(?=-[\d.(["'])/, " ")),
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(known.map((option) => [option.name, parseOption(option)])),
  });
  const positionals: string[] = [];
  const options: Record<string, string> = {};
  const flags = new Set<string>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(argv[token.index] ?? token.value);
    if (token.kind !== "option") continue;
    const option = known.find((each) => each.name === token.name);
    if (option === help) return { kind: "help" };
    const refused = optionProblem(option, token, known);
    if (refused !== undefined) return { kind: "usage", ...refused };
    if (option?.isArgument && token.value !== undefined) positionals.push(token.value);
    else if (token.value === undefined) flags.add(token.name);
    else options[token.name] = token.value;
  }
  if (positionals.length < command.minPositionals)
    return usage(`an argument is missing: \`gwc ${name} ${words}\``);
  const extra = positionals[command.maxPositionals];
  if (extra !== undefined) return usage(`unexpected argument "${extra}"`);
  return { kind: "arguments", values: { positionals, options, flags } };
}

/** `-o DIR, --out DIR` without its summary. */
export function optionUsage({ name, short, value }: Option): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

/** Narrows an option's value to one of its choices; `fallback` if it is not given. */
export function oneOf<Word extends string>(
  choices: readonly Word[],
  given: string | undefined,
  fallback: Word,
): Word {
  return choices.find((word) => word === given) ?? fallback;
}

function parseOption({ short, value }: Option): {
  type: "boolean" | "string";
  short?: string;
} {
  const type = value === undefined ? "boolean" : "string";
  return short === undefined ? { type } : { type, short };
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
}

function optionProblem(
  option: Option | undefined,
  { rawName, value }: OptionToken,
  known: readonly Option[],
): { problem: string; hint?: string } | undefined {
  if (option === undefined) {
    const near = suggest(
      rawName,
      known.map(({ name }) => `--${name}`),
    );
    const problem = `unknown option ${rawName}`;
    return near === undefined ? { problem } : { problem, hint: `did you mean ${near}?` };
  }
  if (option.value === undefined)
    return value === undefined ? undefined : { problem: `${rawName} takes no value` };
  if (value === undefined || value === "") return { problem: `${rawName} needs a ${option.value}` };
  if (option.choices === undefined || option.choices.includes(value)) return undefined;
  const near = suggest(value, option.choices);
  const hint =
    near === undefined ? `one of: ${option.choices.join(", ")}` : `did you mean ${near}?`;
  return { problem: `${rawName} can't be "${value}"`, hint };
}

function usage(problem: string, hint?: string): ReadArguments {
  return { kind: "usage", problem, ...(hint === undefined ? {} : { hint }) };
}
