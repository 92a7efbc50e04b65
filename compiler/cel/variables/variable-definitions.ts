import type { TsType } from "../emit/emitted-value.ts";
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
export const CEL_PHASES: readonly CelPhase[] = ["request", "mcp", "llm", "response", "log"];

/** What a phase is called in messages. */
export function describePhase(phase: CelPhase): string {
  return PHASES[phase];
}

/** A variable of the emitted function, and its properties; `?` stands before one of what may be absent. */
export type Access = readonly [variable: string, ...properties: string[]];

/** A variable or a field: data. */
export interface VariableDefinition {
  readonly path: string;
  readonly type: Type;
  readonly phases: readonly CelPhase[];
  readonly doc: string;
  /** How emitted code reads it; none for an object that is no value by itself. */
  readonly access?: Access;
  /** The method that gives it, of what `access` reads. */
  readonly method?: string;
  /** The helper that makes it of what `access` reads: `time/time#fromMillis`. */
  readonly helper?: string;
  readonly ts?: TsType;
  readonly mayFail?: boolean;
  readonly isJsonRoot?: boolean;
  readonly isJson?: boolean;
  readonly range?: readonly [number, number];
}

/** Every phase. */
export const ALL = CEL_PHASES;
/** When a response is there. */
export const ON_RESPONSE: readonly CelPhase[] = ["response", "log"];
/** When an MCP message is known. */
export const MCP: readonly CelPhase[] = ["mcp", "log"];
/** When an LLM call may be known. */
export const LLM: readonly CelPhase[] = ["llm", "response", "log"];
/** Headers. */
export const STRINGS = mapOf(STRING, STRING);
/** Token counts: no model takes or gives a billion. */
const TOKENS: readonly [number, number] = [0, 1_000_000_000];

/** The type of an object with fields. */
export const objectType = (name: string): Type => ({ kind: "object", name });

/** A string; it may be absent where its owner may. */
export function textVariable(
  path: string,
  access: Access,
  phases: readonly CelPhase[],
  doc: string,
): VariableDefinition {
  const mayFail = access.some((step) => step.startsWith("?"));
  return { path, type: STRING, phases, doc, access, ts: "string", mayFail };
}

/** A token count of an LLM call. */
export function countVariable(name: string, doc: string): VariableDefinition {
  return {
    path: `llm.${name}`,
    type: INT,
    phases: ON_RESPONSE,
    doc,
    access: ["llm", `?${name}`],
    ts: "number",
    mayFail: true,
    range: TOKENS,
  };
}

/** A JSON object, or null. */
export function jsonVariable(
  path: string,
  variable: string,
  phases: readonly CelPhase[],
  doc: string,
): VariableDefinition {
  return { path, type: DYN, phases, doc, access: [variable], isJsonRoot: true, isJson: true };
}

/** The kinds of MCP items. */
export const MCP_ITEMS = ["tool", "prompt", "resource"] as const;

/** An MCP item and its fields. */
export function mcpPrimitive(
  item: (typeof MCP_ITEMS)[number],
  name: string,
): readonly VariableDefinition[] {
  const path = `mcp.${item}`;
  const doc = `The ${item} that is listed or ${item === "resource" ? "read" : "used"}; absent otherwise.`;
  return [
    {
      path,
      type: objectType(path),
      phases: MCP,
      doc,
      access: ["mcp", `?${item}`],
      mayFail: true,
    },
    textVariable(`${path}.name`, ["mcp", `?${item}`, "?name"], MCP, name),
    textVariable(
      `${path}.target`,
      ["mcp", `?${item}`, "?target"],
      MCP,
      "The name of the target that offers it.",
    ),
  ];
}
