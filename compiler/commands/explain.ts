import { backends } from "../backends/index.ts";
import { messageOf } from "../diagnostics/messages/index.ts";
import { painter } from "../diagnostics/report/colors.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { backendPage } from "../inspect/reference/backends.ts";
import { diagnosticCodes, diagnosticPage } from "../inspect/reference/diagnostics.ts";
import {
  DOCUMENTED_COMMANDS,
  guideNames,
  guidePage,
  writtenPage,
} from "../inspect/reference/guides.ts";
import { heading, type Page, type Part, paragraph, table } from "../inspect/reference/page.ts";
import { policyPage } from "../inspect/reference/policies.ts";
import { terminalPage } from "../inspect/reference/terminal.ts";
import { policies } from "../policies/index.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc explain`: prints reference pages and guides, and explains routes, requests and generated lines. */
export const explain: Command = {
  minPositionals: 0,
  maxPositionals: 3,
  details:
    "WHAT is one of the following; without it, all pages are listed:\n" +
    "  a policy, backend, field or section (matches.path, GatewayPolicy.spec.traffic)\n" +
    "  the code of a diagnostic, which its message has in brackets\n" +
    "  guide [NAME]                 a guide; without NAME, the list of guides\n" +
    "  model [NAME]                 limits, traits, prices of a model, or all models\n" +
    "  route NAMESPACE/NAME [RULE]  the effective policies of a route\n" +
    "  GET https://host/path        the route of a request and its policies\n" +
    "  policies/NAME.ts             a custom policy: its comment, options and hooks\n" +
    "  FILE:LINE                    the source of a line of generated code\n" +
    "For a route or request, each policy field is printed with its value, its source and what it overrides.",
  options: [
    {
      name: "file",
      short: "f",
      value: "PATH",
      summary: "the configuration file or folder (default: .)",
    },
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "output format for a route, request or line (default: text)",
    },
  ],
  examples: [
    "gwc explain unknown-field",
    "gwc explain cors",
    "gwc explain timeout.requestTimeout",
    "gwc explain cel",
    "gwc explain metrics",
    "gwc explain eras",
    "gwc explain diff",
    "gwc explain guide models",
    "gwc explain model claude-opus-4-7",
    "gwc explain route default/tools -f manifests/",
    "gwc explain GET https://example.com/mcp -f manifests/",
    "gwc explain policies/tenant.ts",
    "gwc explain out/gateway/routes/tools.ts:30 -f gateway.yaml",
  ],
  work: explainWords,
};

async function explainWords(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const [word, second] = given.positionals;
  if (word === undefined) return printed(await everything(), context);
  if (word === "guide") return guideCommand(second, context);
  if (word === "model") return modelCommand(second, context);
  const line = /^(.+\.[mc]?ts):(\d+)(?::\d+)?$/.exec(word);
  if (word === "route" || second !== undefined || line !== null) {
    const explains = await import("./explain-route.ts");
    if (line !== null)
      return explains.explainLineCommand(line[1] ?? "", Number(line[2]), given, context);
    if (word === "route") return explains.explainRouteCommand(given, context);
    return explains.explainRequestCommand(given, context);
  }
  if (word.endsWith(".ts")) return policyModuleCommand(word, context);
  // Users paste codes as printed: `error[unknown-field]`.
  const name = /^(?:error|warning|note)?\[([\w-]+)\]/.exec(word)?.[1] ?? word;
  const page = await pageOf(name);
  if (page !== undefined) return printed(page, context);
  const { fieldNames, fields } = await fieldReference();
  const near = suggest(name.split(".").at(-1) ?? name, [
    ...[...policies, ...backends].map(({ kind }) => kind),
    ...fieldNames(fields),
    ...diagnosticCodes,
    "cel",
    "metrics",
    "eras",
    ...DOCUMENTED_COMMANDS,
  ]);
  const hint = near === undefined ? "`gwc explain` lists all pages" : `did you mean "${near}"?`;
  return {
    exitCode: 2,
    stderr: `error: unknown field, policy, backend or code "${name}"\nhint: ${hint}\n`,
  };
}

async function policyModuleCommand(file: string, context: CommandContext): Promise<CommandResult> {
  const { policyModulePage } = await import("../inspect/reference/policy-module-page.ts");
  const page = policyModulePage(file, context.host);
  if (typeof page !== "string") return printed(page, context);
  return { exitCode: 2, stderr: `error: ${page}\n` };
}

function guideCommand(name: string | undefined, context: CommandContext): CommandResult {
  if (name === undefined) return printed({ title: "Guides", parts: guides() }, context);
  const page = guidePage(name);
  if (page !== undefined) return printed(page, context);
  const near = suggest(name, guideNames());
  const hint = near === undefined ? "`gwc explain guide` lists them" : `did you mean "${near}"?`;
  return { exitCode: 2, stderr: `error: unknown guide "${name}"\nhint: ${hint}\n` };
}

async function modelCommand(
  name: string | undefined,
  context: CommandContext,
): Promise<CommandResult> {
  const { modelPage, modelsPage } = await import("../inspect/reference/model-page.ts");
  if (name === undefined) return printed(modelsPage(), context);
  const page = modelPage(name);
  if (page !== undefined) return printed(page, context);
  return {
    exitCode: 2,
    stderr: `error: unknown model "${name}"\nhint: \`gwc explain model\` lists them\n`,
  };
}

/** Returns a table of the guides with their titles. */
function guides(): readonly Part[] {
  return table(
    ["guide", "subject"],
    guideNames().map((name) => [name, guidePage(name)?.title ?? ""]),
  );
}

function printed(page: Page, { isColored, columns }: CommandContext): CommandResult {
  const style = { width: columns, paint: painter(isColored.stdout) };
  return { exitCode: 0, stdout: terminalPage(page, style) };
}

/** Returns the list of all pages. */
async function everything(): Promise<Page> {
  const { fileSections, fields } = await fieldReference();
  const summaries = (list: readonly { readonly kind: string; readonly summary: string }[]) =>
    list.map(({ kind, summary }) => [kind, summary]);
  return {
    title: "Pages of `gwc explain NAME`",
    parts: [
      heading("Guides: gwc explain guide NAME"),
      ...guides(),
      heading("Policies, in request order"),
      ...table(["policy", "what it does"], summaries(policies)),
      heading("Backends"),
      ...table(["backend", "what it does"], summaries(backends)),
      heading("Fields"),
      paragraph(
        "Every path of gateway.yaml and of manifests, or the end of one: `matches.path`, `GatewayPolicy.spec.traffic`. The sections " +
          "of gateway.yaml:",
      ),
      ...table(["section", "what it is"], fileSections(fields)),
      heading("Expressions"),
      ...table(["page", "what it is"], [["cel", "variables, functions and macros of rules"]]),
      heading("Protocols"),
      ...table(
        ["page", "what it is"],
        [["eras", "MCP with and without sessions, and how they are bridged"]],
      ),
      heading("Running a gateway"),
      ...table(["page", "what it is"], [["metrics", "metrics, dashboard and alerts"]]),
      heading("Reviewing a change"),
      ...table(
        ["page", "what it is"],
        DOCUMENTED_COMMANDS.map((name) => [name, writtenPage(name)?.title ?? ""]),
      ),
      heading("Diagnostics"),
      ...table(
        ["code", "severity"],
        diagnosticCodes.map((code) => [code, messageOf(code).severity]),
      ),
    ],
  };
}

async function pageOf(name: string): Promise<Page | undefined> {
  if (name === "cel")
    return (await import("../inspect/reference/expressions.ts")).expressionsPage();
  if (name === "metrics") return (await import("../inspect/reference/metrics.ts")).metricsPage();
  const own = diagnosticPage(name) ?? policyPage(name) ?? backendPage(name) ?? writtenPage(name);
  if (own !== undefined) return own;
  const { fieldPage, fields } = await fieldReference();
  return fieldPage(name, fields);
}

/** Loads the schemas of both forms, which only pages of fields need. */
async function fieldReference() {
  const [pages, { allFields }] = await Promise.all([
    import("../inspect/reference/field-page.ts"),
    import("../inspect/reference/field-index.ts"),
  ]);
  return { ...pages, fields: allFields() };
}
