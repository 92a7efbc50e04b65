import type { TsType } from "../emit/code.ts";
import { DYN, INT, mapOf, STRING, type Type } from "../types/types.ts";

/**
 * The moment at which an expression is evaluated. `request`: the policies of a route before its backend is called;
 * `mcp`: rules over tools, prompts and resources; `llm`: while an LLM request is prepared; `response`: policies on the
 * response; `log`: access log, tracing and metrics, when all is over.
 */
export type CelPhase = "request" | "mcp" | "llm" | "response" | "log";

const PHASES: Readonly<Record<CelPhase, string>> = {
  request: "a rule of a request",
  mcp: "an MCP rule",
  llm: "an LLM request transformation",
  response: "a rule of a response",
  log: "the log",
};

/** Every phase, in the order of a request. */
export const celPhases: readonly CelPhase[] = ["request", "mcp", "llm", "response", "log"];

/** What a phase is called in messages. */
export function describePhase(phase: CelPhase): string {
  return PHASES[phase];
}

/** A variable or a field: data. */
export interface VariableDefinition {
  readonly path: string;
  readonly type: Type;
  readonly phases: readonly CelPhase[];
  readonly doc: string;
  /** TypeScript; none for an object that is no value by itself. */
  readonly code?: string;
  readonly ts?: TsType;
  readonly mayFail?: boolean;
  readonly isJsonRoot?: boolean;
  readonly isJson?: boolean;
  readonly range?: readonly [number, number];
  readonly helpers?: readonly string[];
  /** The variable it reads, when it is not the first word of `code`. */
  readonly variables?: readonly string[];
}

/** Every phase. */
export const ALL = celPhases;
/** When a response is there. */
export const LATE: readonly CelPhase[] = ["response", "log"];
/** When an MCP message is known. */
export const MCP: readonly CelPhase[] = ["mcp", "log"];
/** When an LLM call may be known. */
export const LLM: readonly CelPhase[] = ["llm", "response", "log"];
/** Headers. */
export const STRINGS = mapOf(STRING, STRING);
/** Token counts: no model takes or gives a billion. */
const TOKENS: readonly [number, number] = [0, 1_000_000_000];

/** The type of an object with fields. */
export const objectVariable = (name: string): Type => ({ kind: "object", name });

/** A string; it may be absent where its path goes through `?.`. */
export function textVariable(
  path: string,
  code: string,
  phases: readonly CelPhase[],
  doc: string,
): VariableDefinition {
  return { path, type: STRING, phases, doc, code, ts: "string", mayFail: code.includes("?.") };
}

/** A token count of an LLM call. */
export function countVariable(name: string, doc: string): VariableDefinition {
  const code = `llm?.${name}`;
  const path = `llm.${name}`;
  return { path, type: INT, phases: LATE, doc, code, ts: "number", mayFail: true, range: TOKENS };
}

/** A JSON object, or null. */
export function jsonVariable(
  path: string,
  variable: string,
  phases: readonly CelPhase[],
  doc: string,
): VariableDefinition {
  return { path, type: DYN, phases, doc, code: variable, isJsonRoot: true, isJson: true };
}

/** An MCP item and its fields. */
export function mcpPrimitive(
  item: "tool" | "prompt" | "resource",
  name: string,
): readonly VariableDefinition[] {
  const path = `mcp.${item}`;
  const doc = `The ${item} that is listed or ${item === "resource" ? "read" : "used"}; absent otherwise.`;
  return [
    { path, type: objectVariable(path), phases: MCP, doc, code: `mcp?.${item}`, mayFail: true },
    textVariable(`${path}.name`, `mcp?.${item}?.name`, MCP, name),
    textVariable(
      `${path}.target`,
      `mcp?.${item}?.target`,
      MCP,
      "The name of the target that offers it.",
    ),
  ];
}
