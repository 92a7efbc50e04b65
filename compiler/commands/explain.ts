import { type MessageCode, messageOf, messages } from "../diagnostics/messages/index.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { policies } from "../policies/index.ts";
import type { Schema } from "../schema/schema.ts";
import type { Arguments, CommandContext, CommandResult } from "./command.ts";

/** `gwc explain`: the long text of a diagnostic, what a policy does, the expression language, or what there is. */
export async function explain(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const [word, second] = given.positionals;
  if (word === undefined) return { exitCode: 0, stdout: everything() };
  if (word === "cel") {
    const { celReference } = await import("../cel/reference/reference.ts");
    return { exitCode: 0, stdout: celReference() };
  }
  const line = /^(.+\.[mc]?ts):(\d+)(?::\d+)?$/.exec(word);
  if (word === "route" || second !== undefined || line !== null) {
    const explains = await import("./explain-route.ts");
    if (line !== null)
      return explains.explainLineCommand(line[1] ?? "", Number(line[2]), given, context);
    if (word === "route") return explains.explainRouteCommand(given, context);
    return explains.explainRequestCommand(given, context);
  }
  // People paste what they see: `error[unknown-field]`.
  const name = /\[([\w-]+)\]/.exec(word)?.[1] ?? word;
  const code = codes().find((each) => each === name);
  if (code !== undefined) return { exitCode: 0, stdout: explainCode(code) };
  const policy = policies.find(({ kind }) => kind === name);
  if (policy !== undefined) return { exitCode: 0, stdout: explainPolicy(policy) };
  const near = suggest(name, [...codes(), ...policies.map(({ kind }) => kind), "cel"]);
  const hint = near === undefined ? "`gwc explain` lists them all" : `did you mean "${near}"?`;
  return { exitCode: 2, stderr: `error: there is no code or policy "${name}"\nhint: ${hint}\n` };
}

function codes(): readonly MessageCode[] {
  // The keys of the table are the codes.
  return (Object.keys(messages) as MessageCode[]).sort();
}

function everything(): string {
  const width = Math.max(...codes().map((code) => code.length));
  return [
    "Policies, in request order",
    ...policies.map(({ kind, summary }) => `  ${kind.padEnd(width)}  ${summary}`),
    "",
    "Expressions",
    `  ${"cel".padEnd(width)}  variables, functions and macros of rules`,
    "",
    "Diagnostics",
    ...codes().map((code) => `  ${code.padEnd(width)}  ${messageOf(code).severity}`),
    "",
  ].join("\n");
}

function explainCode(code: MessageCode): string {
  const { severity, explanation } = messageOf(code);
  return `${severity}[${code}]\n\n${wrap(explanation)}\n`;
}

function explainPolicy({ kind, summary, scope, schema }: (typeof policies)[number]): string {
  const place = policies.findIndex((policy) => policy.kind === kind) + 1;
  return [
    `${kind}: ${summary}.`,
    "",
    `It may stand on: ${scope.join(", ")}. In request order it is number ${place} of ${policies.length}.`,
    "",
    "Fields",
    ...fields(schema, "  "),
    "",
  ].join("\n");
}

/** The fields of an object, those of objects inside them indented; a list shows the fields of its items. */
function fields(schema: Schema, indent: string): string[] {
  const known = Object.entries(schema.properties ?? {}).filter(([, each]) => !each.unsupported);
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.flatMap(([name, each]) => {
    const required = schema.required?.includes(name) === true ? "required; " : "";
    const text = `${required}${each.description ?? ""}${defaults(each)}`;
    const lines = wrap(text, 100 - indent.length - width - 2).split("\n");
    const hanging = `\n${" ".repeat(indent.length + width + 2)}`;
    const inner = each.items ?? each;
    return [
      `${indent}${name.padEnd(width)}  ${lines.join(hanging)}`.trimEnd(),
      ...fields(inner, `${indent}  `),
    ];
  });
}

function defaults({ default: value, enum: argv }: Schema): string {
  const choices = argv === undefined ? "" : ` One of: ${argv.join(", ")}.`;
  return value === undefined ? choices : `${choices} Default: ${String(value)}.`;
}

function wrap(text: string, width = 100): string {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines.join("\n");
}
