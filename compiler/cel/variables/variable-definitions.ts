import type { TsType } from "../emit/emitted-value.ts";
import { DYN, INT, mapOf, STRING, type Type } from "../types/types.ts";

/**
 * Point in time at which an expression is evaluated. `request`: policies of a route before its backend is called;
 * `mcp`: rules for tools, prompts and resources; `llm`: preparation of an LLM request; `response`: policies for the
 * response; `log`: access log, tracing and metrics after the request.
 */
export type CelPhase = "request" | "mcp" | "llm" | "response" | "log";

const PHASES: Readonly<Record<CelPhase, string>> = {
  request: "a rule of a request",
  mcp: "an MCP rule",
  llm: "an LLM request transformation",
  response: "a rule of a response",
  log: "the log",
};

/** All phases, in the order of a request. */
export const CEL_PHASES: readonly CelPhase[] = ["request", "mcp", "llm", "response", "log"];

/** Returns the name of a phase in messages. */
export function describePhase(phase: CelPhase): string {
  return PHASES[phase];
}

/** A variable of the emitted function and its properties; optional ones begin with `?`. */
export type Access = readonly [variable: string, ...properties: string[]];

/** Definition of a variable or a field. */
export interface VariableDefinition {
  readonly path: string;
  readonly type: Type;
  readonly phases: readonly CelPhase[];
  readonly doc: string;
  /** Code that reads it; `undefined` for an object that is not a value. */
  readonly access?: Access;
  /** Method of the value at `access` that returns it. */
  readonly method?: string;
  /** Helper that computes it from the value at `access`: `time/time#fromMillis`. */
  readonly helper?: string;
  readonly ts?: TsType;
  readonly mayFail?: boolean;
  readonly isJsonRoot?: boolean;
  readonly isJson?: boolean;
  readonly range?: readonly [number, number];
}

/** All phases. */
export const ALL = CEL_PHASES;
/** Phases before everything was sent. */
export const BEFORE_LOG = ALL.filter((phase) => phase !== "log");
/** Phases with a response. */
export const ON_RESPONSE: readonly CelPhase[] = ["response", "log"];
/** Phases with an MCP message. */
export const MCP: readonly CelPhase[] = ["mcp", "log"];
/** Phases that may have an LLM call. */
export const LLM: readonly CelPhase[] = ["llm", "response", "log"];
/** Type of headers. */
export const STRINGS = mapOf(STRING, STRING);
/** Range of token counts: no model handles a billion. */
const TOKENS: readonly [number, number] = [0, 1_000_000_000];

/** The type of an object with fields. */
export const objectType = (name: string): Type => ({ kind: "object", name });

/** Defines a string, which may be absent if its owner may be. */
export function textVariable(
  path: string,
  access: Access,
  phases: readonly CelPhase[],
  doc: string,
): VariableDefinition {
  const mayFail = access.some((step) => step.startsWith("?"));
  return { path, type: STRING, phases, doc, access, ts: "string", mayFail };
}

/** Defines a token count of an LLM call. */
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

/** Defines a JSON object or null. */
export function jsonVariable(
  path: string,
  variable: string,
  phases: readonly CelPhase[],
  doc: string,
): VariableDefinition {
  return { path, type: DYN, phases, doc, access: [variable], isJsonRoot: true, isJson: true };
}

/** Kinds of MCP items. */
export const MCP_ITEMS = ["tool", "prompt", "resource"] as const;

/** Defines an MCP item and its fields. */
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
