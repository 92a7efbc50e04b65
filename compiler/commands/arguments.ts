import { parseArgs } from "node:util";
import { nearest } from "../diagnostics/suggestion.ts";
import type { Arguments, Option, Verb } from "./command.ts";
import { help } from "./commands.ts";

/** A command line that was understood, or what is wrong with it. */
export type ReadArguments =
  | { readonly kind: "arguments"; readonly values: Arguments }
  | { readonly kind: "help" }
  | { readonly kind: "usage"; readonly problem: string; readonly hint?: string };

/** Reads the words after a verb. */
export function readArguments(verb: Verb, words: readonly string[]): ReadArguments {
  const known = [...verb.options, help];
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(known.map((option) => [option.name, parseOption(option)])),
  });
  const operands: string[] = [];
  const options: Record<string, string> = {};
  const flags = new Set<string>();
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const option = known.find((each) => each.name === token.name);
    if (option === help) return { kind: "help" };
    const refused = optionProblem(option, token, known);
    if (refused !== undefined) return { kind: "usage", ...refused };
    if (token.value === undefined) flags.add(token.name);
    else options[token.name] = token.value;
  }
  const missing = verb.options.find(({ name, isRequired }) => isRequired && !(name in options));
  if (missing !== undefined)
    return usage(`${spelling(missing)} is missing`, operandHint(verb, missing, operands));
  if (operands.length < verb.minOperands) return usage(`\`gwc ${verb.name}\` needs a file`);
  const extra = operands[verb.maxOperands];
  if (extra !== undefined) return usage(`"${extra}" is one word too many`);
  return { kind: "arguments", values: { operands, options, flags } };
}

/** `-o DIR, --out DIR` without its summary. */
export function spelling({ name, short, value }: Option): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

/** A given value as one of the words that it was checked against. */
export function choose<Word extends string>(
  words: readonly Word[],
  given: string | undefined,
  fallback: Word,
): Word {
  return words.find((word) => word === given) ?? fallback;
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
    const near = nearest(
      rawName,
      known.map(({ name }) => `--${name}`),
    );
    const problem = `there is no option ${rawName} here`;
    return near === undefined ? { problem } : { problem, hint: `did you mean ${near}?` };
  }
  if (option.value === undefined)
    return value === undefined ? undefined : { problem: `${rawName} takes no value` };
  if (value === undefined || value === "") return { problem: `${rawName} needs a ${option.value}` };
  if (option.choices === undefined || option.choices.includes(value)) return undefined;
  const near = nearest(value, option.choices);
  const hint =
    near === undefined ? `one of: ${option.choices.join(", ")}` : `did you mean ${near}?`;
  return { problem: `${rawName} can't be "${value}"`, hint };
}

/** `gwc run gateway.yaml` lacks nothing but the `-f`. */
function operandHint(verb: Verb, option: Option, [operand]: readonly string[]): string | undefined {
  return operand === undefined || verb.maxOperands > 0
    ? undefined
    : `did you mean \`gwc ${verb.name} -${option.short} ${operand}\`?`;
}

function usage(problem: string, hint?: string): ReadArguments {
  return { kind: "usage", problem, ...(hint === undefined ? {} : { hint }) };
}
