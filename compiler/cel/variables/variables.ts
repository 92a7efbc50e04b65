import type { Expression } from "../../../templates/code/hole.ts";
import { name } from "../../../templates/code/names.ts";
import { call, member, optionalMember } from "../../../templates/code/syntax.ts";
import { type EmittedValue, helper } from "../emit/emitted-value.ts";
import type { Declaration, Environment } from "./environment.ts";
import {
  type Access,
  type CelPhase,
  describePhase,
  MCP_ITEMS,
  type VariableDefinition,
} from "./variable-definitions.ts";
import { CALL_VARIABLES } from "./variables-call.ts";
import { REQUEST_VARIABLES } from "./variables-request.ts";

const ROWS = [...REQUEST_VARIABLES, ...CALL_VARIABLES];

export { CEL_PHASES, type CelPhase, describePhase } from "./variable-definitions.ts";

/** Cache of environments: all expressions of a phase share one. */
const environments = new Map<string, Environment>();

/** Returns the variables of a phase; `present` are fields that are known to exist (`mcp.tool`). */
export function phaseEnvironment(phase: CelPhase, present: readonly string[] = []): Environment {
  const key = [phase, ...present].join(" ");
  const environment = environments.get(key) ?? environmentOf(phase, present);
  environments.set(key, environment);
  return environment;
}

/** Returns the kinds of items that rules of a phase are evaluated for: an item is of one of them, or of none. */
export function itemKinds(phase: CelPhase): readonly string[] {
  return phase === "mcp" ? MCP_ITEMS.map((item) => `mcp.${item}`) : [];
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
  return {
    path: row.path,
    type: row.type,
    code: emittedValue(row, phase, present),
    variable: row.access?.[0],
    doc: row.doc,
  };
}

function emittedValue(
  row: VariableDefinition,
  phase: CelPhase,
  present: readonly string[],
): EmittedValue | undefined {
  if (row.access === undefined) return undefined;
  // An MCP rule always has an MCP message.
  const isSure = phase === "mcp" && row.path.startsWith("mcp.");
  const read = readAccess(row.access, isSure ? ["mcp", ...present] : present);
  const isAbsent = row.type.kind === "object" && !present.includes(row.path);
  // The log may have no response: the client disconnected before.
  const isUnsure = phase === "log" && row.path === "response.code";
  return {
    expression: wrapped(read.expression, row),
    ts: row.ts ?? (row.type.kind === "dyn" && !row.isJsonRoot ? "unknown" : "other"),
    mayFail: isSure
      ? read.isOptional || isAbsent || row.isJson === true
      : isUnsure || (row.mayFail ?? false),
    isSimple: row.method === undefined && row.helper === undefined,
    ...(row.isJson ? { isJson: true } : {}),
    ...(row.isJsonRoot ? { isJsonRoot: true } : {}),
    ...(row.range === undefined ? {} : { range: row.range }),
  };
}

/** Emits the chain of properties; those known to be `present` are read without `?`. */
function readAccess(
  [root, ...steps]: Access,
  present: readonly string[],
): { readonly expression: Expression; readonly isOptional: boolean } {
  let expression: Expression = name(root);
  let path: string = root;
  let isOptional = false;
  for (const step of steps) {
    const property = step.replace("?", "");
    const mayBeAbsent = step !== property && !present.includes(path);
    expression = mayBeAbsent ? optionalMember(expression, property) : member(expression, property);
    isOptional ||= mayBeAbsent;
    path += `.${property}`;
  }
  return { expression, isOptional };
}

function wrapped(expression: Expression, row: VariableDefinition): Expression {
  if (row.method !== undefined) return call(member(expression, row.method), []);
  return row.helper === undefined ? expression : call(helper(row.helper), [expression]);
}
