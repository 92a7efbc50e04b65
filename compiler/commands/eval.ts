import type { CelProblem } from "../cel/compile.ts";
import { emittedText, evaluateExpression } from "../cel/evaluate.ts";
import { celPhases } from "../cel/variables.ts";
import type { Host } from "../host.ts";
import { messageOf } from "../messages.ts";
import type { Finding } from "../report/findings.ts";
import { textReport } from "../report/text.ts";
import { lineAndColumn } from "../source.ts";
import { choose } from "./arguments.ts";
import type { Arguments, CommandResult, Surroundings } from "./command.ts";

/** `gwc eval`: the value of an expression; exit code 1 when it does not compile, or when evaluating it is an error. */
export async function evaluate(
  { operands: [text = ""], options, flags }: Arguments,
  { host, isColored }: Surroundings,
): Promise<CommandResult> {
  const data = readData(options.data, host);
  if ("problem" in data) return { exitCode: 1, stderr: `error: ${data.problem}\n` };
  const phase = choose(celPhases, options.phase, "request");
  const found = evaluateExpression(text, { phase, data: data.value });
  const findings = found.problems.map((problem) => finding(problem, text));
  const stderr = textReport(findings, isColored.stderr);
  if (found.kind === "invalid") return { exitCode: 1, stderr };
  const code = flags.has("emit") ? `${emittedText(found.expression).trimEnd()}\n` : "";
  if (found.kind === "error") {
    const problem = "error: evaluating it is an error: something is absent, or of another type\n";
    return { exitCode: 1, stdout: code, stderr: stderr + problem };
  }
  const value = options.format === "json" ? JSON.stringify(found.json) : found.text;
  return { exitCode: 0, stdout: `${code}${value}\n`, stderr };
}

type Data = { readonly value: unknown } | { readonly problem: string };

/** The data of `--data`: JSON, or a file of it. Messages of the JSON parser quote the text, so they stay unsaid. */
function readData(given: string | undefined, host: Host): Data {
  if (given === undefined) return { value: {} };
  const file = given.startsWith("@") ? host.readText(given.slice(1)) : undefined;
  if (file?.kind === "problem")
    return { problem: `"${given.slice(1)}" cannot be read: ${file.problem}` };
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
