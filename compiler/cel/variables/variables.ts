import { type Code, PRECEDENCE } from "../emit/code.ts";
import type { Declaration, Environment } from "./environment.ts";
import { type CelPhase, describePhase, type VariableDefinition } from "./variable-definitions.ts";
import { callVariables } from "./variables-call.ts";
import { requestVariables } from "./variables-request.ts";

const ROWS = [...requestVariables, ...callVariables];

export { type CelPhase, celPhases, describePhase } from "./variable-definitions.ts";

/** The environments that were asked for: every expression of a phase has the same one. */
const environments = new Map<string, Environment>();

/** The variables of a phase; `present` are the fields that are known to be there (`mcp.tool`). */
export function phaseEnvironment(phase: CelPhase, present: readonly string[] = []): Environment {
  const key = [phase, ...present].join(" ");
  const environment = environments.get(key) ?? environmentOf(phase, present);
  environments.set(key, environment);
  return environment;
}

function environmentOf(phase: CelPhase, present: readonly string[]): Environment {
  const rows = ROWS.filter((row) => row.phases.includes(phase));
  return {
    description: describePhase(phase),
    declarations: new Map(rows.map((row) => [row.path, declare(row, phase, present)])),
    elsewhere: (path) => ROWS.find((row) => row.path === path)?.phases.map(describePhase) ?? [],
  };
}

function declare(
  row: VariableDefinition,
  phase: CelPhase,
  present: readonly string[],
): Declaration {
  const variable = /^\w+/.exec(row.code ?? "")?.[0];
  return {
    path: row.path,
    type: row.type,
    code: codeOf(row, phase, present),
    variables: row.variables ?? (variable === undefined ? [] : [variable]),
    helpers: row.helpers ?? [],
    doc: row.doc,
  };
}

function codeOf(
  row: VariableDefinition,
  phase: CelPhase,
  present: readonly string[],
): Code | undefined {
  if (row.code === undefined) return undefined;
  // in an MCP rule there is always an MCP message
  const isSure = phase === "mcp" && row.path.startsWith("mcp.");
  const reached = isSure ? row.code.replace(/^mcp\?/, "mcp") : row.code;
  const code = present.reduce((at, path) => at.replace(`${path}?.`, `${path}.`), reached);
  const isAbsent = row.type.kind === "object" && !present.includes(row.path);
  // in the log there may be none: the client left before
  const isUnsure = phase === "log" && row.path === "response.code";
  return {
    text: code,
    level: PRECEDENCE.primary,
    ts: row.ts ?? (row.type.kind === "dyn" && !row.isJsonRoot ? "unknown" : "other"),
    mayFail: isSure ? code.includes("?.") || isAbsent : isUnsure || (row.mayFail ?? false),
    isSimple: !code.includes("("),
    ...(row.isJson ? { isJson: true } : {}),
    ...(row.isJsonRoot ? { isJsonRoot: true } : {}),
    ...(row.range === undefined ? {} : { range: row.range }),
  };
}
