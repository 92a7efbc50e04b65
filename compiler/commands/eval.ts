import type { CelProblem } from "../cel/compile.ts";
import { type Evaluation, emittedText, evaluateExpression } from "../cel/evaluate/evaluate.ts";
import { CEL_PHASES } from "../cel/variables/variables.ts";
import { messageOf } from "../diagnostics/messages/index.ts";
import type { Finding } from "../diagnostics/report/findings.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { lineAndColumn } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { evaluateGuards } from "./eval-guard.ts";

/** `gwc eval`: the value of an expression; exit code 1 when it does not compile, or when evaluating it is an error. */
export const evalCommand: Command = {
  minPositionals: 1,
  maxPositionals: 1,
  details:
    "The expression is compiled as in a gateway, and what it becomes is run. DATA has the variables as expressions\n" +
    "name them, as a JSON file or as JSON itself; what it leaves out is absent. With --guard it is a text that the\n" +
    "prompt guards of a route are tried on; servers are not asked.",
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
      summary: "where the expression would stand (default: request)",
    },
    {
      name: "guard",
      value: "ROUTE",
      summary:
        "try the route's prompt guards on the text, of requests or (--phase response) of responses",
    },
    {
      name: "file",
      short: "f",
      value: "PATH",
      summary: "with --guard: the configuration, a file or a folder (default: this folder)",
    },
    { name: "emit", summary: "show the TypeScript that it becomes as well" },
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "how the value is written (default: text)",
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
    case "error":
      return { exitCode: 1, stdout: shown, stderr: `${stderr}error: ${FAILED}\n` };
    case "invalid":
      return { exitCode: 1, stderr };
  }
}

const FAILED = "evaluating it is an error: something is absent, or of another type";

/** One object: `{"value", "type"}` or `{"error"}`; with `--emit` also `"code"`. */
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
 * The data of `--data`: a JSON file, or the JSON object itself. Messages of the JSON parser quote the text, so they stay
 * unsaid.
 */
function readData(given: string | undefined, host: Host): Data {
  if (given === undefined) return { value: {} };
  const file = given.trimStart().startsWith("{") ? undefined : host.readText(given);
  if (file?.kind === "problem") return { problem: `"${given}" cannot be read: ${file.problem}` };
  try {
    const value: unknown = JSON.parse(file?.text ?? given);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value };
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
    // The table's row and the parameters belong to the same code.
    message: message(params as never),
    hint: hint?.(params as never),
    location: { path: "expression", text, start, end, ...lineAndColumn(text, start) },
    related: [],
  };
}
