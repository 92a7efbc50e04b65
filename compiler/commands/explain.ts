import { backends } from "../backends/index.ts";
import { messageOf } from "../diagnostics/messages/index.ts";
import { painter } from "../diagnostics/report/colors.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { backendPage } from "../inspect/reference/backends.ts";
import { diagnosticCodes, diagnosticPage } from "../inspect/reference/diagnostics.ts";
import type { Page } from "../inspect/reference/page.ts";
import { policyPage } from "../inspect/reference/policies.ts";
import { terminalPage } from "../inspect/reference/terminal.ts";
import { policies } from "../policies/index.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc explain`: the long text of a diagnostic, what a policy or backend does, the expression language, or what there is. */
export const explain: Command = {
  minPositionals: 0,
  maxPositionals: 3,
  details:
    "The code of a diagnostic stands in brackets in its message: error[unknown-field].\n" +
    "`route NAMESPACE/NAME [RULE]` and `GET https://host/path` print what holds for that traffic: each policy field, its\n" +
    "value, where it comes from and what it overrides. A line of generated code is traced back to the configuration.",
  options: [
    {
      name: "file",
      short: "f",
      value: "PATH",
      summary: "the configuration: a file or a folder (default: this folder)",
    },
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "how a route, a request or a line is explained (default: text)",
    },
  ],
  examples: [
    "gwc explain unknown-field",
    "gwc explain cors",
    "gwc explain cel",
    "gwc explain route default/tools -f manifests/",
    "gwc explain GET https://example.com/mcp -f manifests/",
    "gwc explain out/gateway/routes/tools.ts:30 -f gateway.yaml",
  ],
  work: explainWords,
};

async function explainWords(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const [word, second] = given.positionals;
  if (word === undefined) return { exitCode: 0, stdout: everything() };
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
  const page = await pageOf(name);
  if (page !== undefined) {
    const style = { width: WIDTH, paint: painter(context.isColored.stdout) };
    return { exitCode: 0, stdout: terminalPage(page, style) };
  }
  const near = suggest(name, [
    ...diagnosticCodes,
    ...[...policies, ...backends].map(({ kind }) => kind),
    "cel",
  ]);
  const hint = near === undefined ? "`gwc explain` lists them all" : `did you mean "${near}"?`;
  return {
    exitCode: 2,
    stderr: `error: there is no code, policy or backend "${name}"\nhint: ${hint}\n`,
  };
}

/** Columns of what is printed: most terminals have them, and longer lines are hard to read. */
const WIDTH = 100;

/** Everything there is a page of. */
function everything(): string {
  const width = Math.max(...diagnosticCodes.map((code) => code.length));
  return [
    "Policies, in request order",
    ...policies.map(({ kind, summary }) => `  ${kind.padEnd(width)}  ${summary}`),
    "",
    "Backends",
    ...backends.map(({ kind, summary }) => `  ${kind.padEnd(width)}  ${summary}`),
    "",
    "Expressions",
    `  ${"cel".padEnd(width)}  variables, functions and macros of rules`,
    "",
    "Diagnostics",
    ...diagnosticCodes.map((code) => `  ${code.padEnd(width)}  ${messageOf(code).severity}`),
    "",
  ].join("\n");
}

async function pageOf(name: string): Promise<Page | undefined> {
  if (name === "cel")
    return (await import("../inspect/reference/expressions.ts")).expressionsPage();
  return diagnosticPage(name) ?? policyPage(name) ?? backendPage(name);
}
