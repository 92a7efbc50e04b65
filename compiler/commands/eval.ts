import { isJsonObject } from "../../runtime/json/json-object.ts";
import type { PromptGuardNode } from "../backends/ai/guards.ts";
import type { CelProblem } from "../cel/compile.ts";
import { type Evaluation, emittedText, evaluateExpression } from "../cel/evaluate/evaluate.ts";
import { CEL_PHASES } from "../cel/variables/variables.ts";
import type { Checked } from "../compile.ts";
import { messageOf } from "../diagnostics/messages/index.ts";
import type { Finding } from "../diagnostics/report/findings.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { lineAndColumn } from "../diagnostics/source.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import type { Host } from "../host.ts";
import { checkInput } from "../inspect/check-input.ts";
import { type GuardTrial, tryGuards } from "../inspect/guards/try-guards.ts";
import { routeGuards } from "../ir/route-guards.ts";
import { servedRoutes } from "../ir/routes.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";

/** `gwc eval`: prints the value of an expression; exit code 1 if it does not compile or its evaluation fails. */
export const evalCommand: Command = {
  minPositionals: 1,
  maxPositionals: 1,
  details:
    "Compiles EXPRESSION as a gateway does and runs the result. DATA has the variables by their names in expressions, " +
    "as a JSON file or inline JSON; missing ones are absent.\n" +
    "With --guard, EXPRESSION is a text, on which the prompt guards of a route are run. External guards are not called.",
  options: [
    {
      name: "data",
      short: "d",
      value: "DATA",
      summary: "the variables (default: a request GET /)",
    },
    {
      name: "phase",
      value: "PHASE",
      choices: ["request", "mcp", "llm", "response", "log"],
      summary: "where the expression is used (default: request)",
    },
    {
      name: "guard",
      value: "ROUTE",
      summary:
        "run the route's prompt guards on the text, as a request or (--phase response) a response",
    },
    {
      name: "file",
      short: "f",
      value: "PATH",
      summary: "with --guard: the configuration file or folder (default: .)",
    },
    { name: "emit", summary: "also print the generated TypeScript" },
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "output format (default: text)",
    },
  ],
  examples: [
    `gwc eval 'jwt.sub == "ada"' -d '{"jwt": {"sub": "ada"}}'`,
    `gwc eval 'request.path.startsWith("/api")' -d request.json --emit`,
    `gwc eval --guard chat -f gateway.yaml 'Mail ann@example.com'`,
  ],
  work: evaluate,
};

async function evaluate(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const { guard } = given.options;
  return guard === undefined ? evaluateText(given, context) : evaluateGuards(guard, given, context);
}

function evaluateText(
  { positionals: [text = ""], options, flags }: Arguments,
  { host, isColored }: CommandContext,
): CommandResult {
  const data = readData(options.data, host);
  if ("problem" in data) return { exitCode: 1, stderr: `error: ${data.problem}\n` };
  const phase = oneOf(CEL_PHASES, options.phase, "request");
  const found = evaluateExpression(text, { phase, data: data.value });
  const findings = found.problems.map((problem) => finding(problem, text));
  const code = found.kind === "invalid" ? "" : `${emittedText(found.expression).trimEnd()}\n`;
  const shown = flags.has("emit") ? code : "";
  if (options.format === "json") return jsonResult(found, findings, shown);
  const stderr = textReport(findings, isColored.stderr);
  switch (found.kind) {
    case "value":
      return { exitCode: 0, stdout: `${shown}${found.text}\ntype: ${found.type}\n`, stderr };
    case "error": {
      const hint = options.data === undefined ? WITHOUT_DATA : "";
      return { exitCode: 1, stdout: shown, stderr: `${stderr}error: ${FAILED}\n${hint}` };
    }
    case "invalid":
      return { exitCode: 1, stderr };
  }
}

const FAILED = "the evaluation failed: a value is absent or has another type";

const WITHOUT_DATA = `hint: give the variables: -d '{"jwt": {"sub": "ada"}}'\n`;

/** Formats one object: `{"value", "type"}` or `{"error"}`; with `--emit` also `"code"`. */
function jsonResult(found: Evaluation, findings: readonly Finding[], shown: string): CommandResult {
  const code = shown === "" ? {} : { code: shown };
  if (found.kind === "value") {
    const { json: value, type } = found;
    return { exitCode: 0, stdout: `${JSON.stringify({ value, type, ...code })}\n` };
  }
  const first = findings.find(({ severity }) => severity === "error");
  const error =
    found.kind === "error" || first === undefined ? FAILED : `${first.code}: ${first.message}`;
  return { exitCode: 1, stdout: `${JSON.stringify({ error, ...code })}\n` };
}

type Data = { readonly value: unknown } | { readonly problem: string };

/**
 * Reads the value of `--data`: a JSON file or an inline JSON object. The JSON parser's messages quote the data, which may
 * hold secrets, so they are not printed.
 */
function readData(given: string | undefined, host: Host): Data {
  if (given === undefined) return { value: {} };
  const file = given.trimStart().startsWith("{") ? undefined : host.readText(given);
  if (file?.kind === "problem") return { problem: `"${given}" cannot be read: ${file.problem}` };
  try {
    const value: unknown = JSON.parse(file?.text ?? given);
    if (isJsonObject(value)) return { value };
    return { problem: "the data must be a JSON object" };
  } catch {
    return { problem: "the data is not valid JSON" };
  }
}

function finding({ code, params, within }: CelProblem, text: string): Finding {
  const { severity, text: message, hint } = messageOf(code);
  const [start, end] = within;
  return {
    code,
    severity,
    // `messageOf` and `params` belong to the same code, which the type cannot express.
    message: message(params as never),
    hint: hint?.(params as never),
    location: { path: "expression", text, start, end, ...lineAndColumn(text, start) },
    related: [],
  };
}

/** `gwc eval --guard ROUTE TEXT`: runs the prompt guards of a route on a text; exit code 1 if they reject it. */
async function evaluateGuards(
  route: string,
  { positionals: [text = ""], options }: Arguments,
  { host }: CommandContext,
): Promise<CommandResult> {
  const file = options.file ?? ".";
  const phase = options.phase ?? "request";
  if (phase !== "request" && phase !== "response") {
    return usage(`guards have no phase "${phase}"`, "use request or response");
  }
  const checked = checkInput([file], host, false);
  if (checked.programs.length === 0) return usage(`${file} is invalid`, "run `gwc check`");
  const guarded = guardedRoutes(checked);
  const guards = guarded.get(route);
  if (guards === undefined) {
    const names = [...guarded.keys()];
    const near = suggest(route, names) ?? names.join(", ");
    return usage(
      `no route "${route}" in ${file} has guards`,
      near && `routes with guards: ${near}`,
    );
  }
  const trials = await Promise.all(guards.map((each) => tryGuards(each, phase, text)));
  const exitCode = trials.some((trial) => trial.text === undefined) ? 1 : 0;
  const stdout =
    options.format === "json"
      ? `${JSON.stringify(trials.length === 1 ? trials[0] : trials)}\n`
      : trials.map(trialText).join("\n");
  return { exitCode, stdout };
}

/** Returns the prompt guards by route name, for routes that have any. */
function guardedRoutes({ programs }: Checked): ReadonlyMap<string, readonly PromptGuardNode[]> {
  const found = new Map<string, readonly PromptGuardNode[]>();
  for (const { route } of programs.flatMap(servedRoutes)) {
    const guards = routeGuards(route);
    if (guards.length > 0) found.set(route.name, guards);
  }
  return found;
}

function trialText({ guards, text, rejection }: GuardTrial): string {
  const width = Math.max(0, ...guards.map(({ guard }) => guard.length));
  const lines = guards.map(({ guard, action, matches }) => {
    const count = matches === 0 ? "" : ` (${matches} ${matches === 1 ? "match" : "matches"})`;
    return `${guard.padEnd(width)}  ${action}${count}`;
  });
  const end =
    text === undefined ? `rejected: ${rejection?.status} ${rejection?.message}` : `text: ${text}`;
  return `${[...lines, end].join("\n")}\n`;
}

function usage(problem: string, hint: string): CommandResult {
  return { exitCode: 2, stderr: `error: ${problem}\n${hint === "" ? "" : `hint: ${hint}\n`}` };
}
