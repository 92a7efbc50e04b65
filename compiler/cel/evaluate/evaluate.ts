import { comment, join } from "../../../templates/code/code.ts";
import { constantsOf, Expressions } from "../../../templates/code/expression.ts";
import { laidOut } from "../../../templates/code/layout.ts";
import { printModule } from "../../../templates/code/print.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { type CelPhase, type CelProblem, compileExpression } from "../compile.ts";
import { variablesFrom } from "./evaluate-data.ts";
import {
  doubleOf,
  entriesOf,
  functionOf,
  kindOf,
  numberOf,
  quote,
  toText,
  typeNameOf,
} from "./run-code.ts";

/** Result of `gwc eval`. */
export type Evaluation =
  | {
      readonly kind: "value";
      /** Value as a CEL literal. */
      readonly text: string;
      /** Value as JSON: bytes are base64, times are strings, ints beyond 2^53 are strings. */
      readonly json: unknown;
      /** Type, as precise as it is known. */
      readonly type: string;
      readonly expression: CompiledExpression;
      readonly problems: readonly CelProblem[];
    }
  /** Evaluation failed: a missing claim, a wrong type. */
  | {
      readonly kind: "error";
      readonly expression: CompiledExpression;
      readonly problems: readonly CelProblem[];
    }
  /** The expression is invalid. */
  | { readonly kind: "invalid"; readonly problems: readonly CelProblem[] };

/**
 * Compiles an expression and runs its code. `data` has the variables in the form of expressions: `{"jwt": {"sub": "a"},
 * "request": {"path": "/", "headers": {"x-id": "1"}}}`; missing data is absent, and the default request is `GET /`.
 */
export function evaluateExpression(
  text: string,
  options: { readonly phase: CelPhase; readonly data: unknown },
): Evaluation {
  const { expression, problems } = compileExpression(text, { phase: options.phase, slot: "value" });
  if (expression === undefined) return { kind: "invalid", problems };
  const run = functionOf(expression.code, expression.variables);
  const value = run(variablesFrom(options.data));
  if (value === undefined) return { kind: "error", expression, problems };
  return {
    kind: "value",
    text: writeValue(value),
    json: toJsonValue(value),
    type: expression.type === "dyn" ? typeNameOf(value) : expression.type,
    expression,
    problems,
  };
}

/** Returns the code of an expression, with the code that it depends on: `gwc eval --emit`. */
export function emittedText({ code, source, variables }: CompiledExpression): string {
  const expressions = new Expressions();
  const result = expressions.use(code);
  const body = [
    ...constantsOf(expressions),
    [
      comment(source),
      ...(variables.length === 0 ? [] : [comment(`reads ${variables.join(", ")}`)]),
      laidOut(result, "alone"),
    ],
  ];
  const { text } = printModule({ path: "", header: [], body: join(body, "\n\n"), declared: [] });
  return text.trimEnd();
}

/** Formats a value as a CEL literal: `"a"`, `1u`, `[1, 2.0]`, `{"a": b"\x00"}`, `timestamp("…")`. */
function writeValue(value: unknown): string {
  const kind = kindOf(value);
  switch (kind) {
    case "string":
      return quote(value) ?? "";
    case "int":
      return String(value);
    case "uint":
      return `${numberOf(value)}u`;
    case "double":
      return writeDouble(doubleOf(value) ?? Number.NaN);
    case "bytes":
      return value instanceof Uint8Array ? writeBytes(value) : "";
    case "list":
      return Array.isArray(value) ? `[${value.map(writeValue).join(", ")}]` : "";
    case "map":
      return writeMap(value);
    case "type":
      return nameOf(value);
    case "optional":
      return writeOptional(value);
    case "timestamp":
    case "duration":
    case "ip":
    case "cidr":
      return `${kind}(${quote(toText(value)) ?? ""})`;
    default:
      return String(value);
  }
}

/** Converts a value to JSON; see `Evaluation.json`. */
function toJsonValue(value: unknown): unknown {
  const kind = kindOf(value);
  switch (kind) {
    case "int":
    case "uint": {
      const exact = numberOf(value);
      return typeof exact === "bigint" ? String(exact) : exact;
    }
    case "double": {
      const number = doubleOf(value) ?? Number.NaN;
      return Number.isFinite(number) ? number : String(number);
    }
    case "bytes":
      return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : null;
    case "list":
      return Array.isArray(value) ? value.map(toJsonValue) : [];
    case "map":
      return Object.fromEntries(
        [...(entriesOf(value) ?? [])].map(([key, content]) => [keyText(key), toJsonValue(content)]),
      );
    case "null":
    case "bool":
    case "string":
      return value;
    case "type":
      return nameOf(value);
    case "optional":
      return optionalContent(value) === undefined ? null : toJsonValue(optionalContent(value));
    default:
      return toText(value) ?? null;
  }
}

function writeDouble(number: number): string {
  if (!Number.isFinite(number))
    return `double("${Number.isNaN(number) ? "NaN" : number > 0 ? "Inf" : "-Inf"}")`;
  const text = Object.is(number, -0) ? "-0" : String(number);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function writeBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `b"${text}"`;
}

function writeMap(map: unknown): string {
  const entries = [...(entriesOf(map) ?? [])];
  return `{${entries.map(([key, value]) => `${writeValue(key)}: ${writeValue(value)}`).join(", ")}}`;
}

function writeOptional(optional: unknown): string {
  const content = optionalContent(optional);
  return content === undefined ? "optional.none()" : `optional.of(${writeValue(content)})`;
}

function optionalContent(optional: unknown): unknown {
  return typeof optional === "object" && optional !== null && "content" in optional
    ? optional.content
    : undefined;
}

function nameOf(type: unknown): string {
  return typeof type === "object" && type !== null && "name" in type
    ? String(type.name)
    : typeNameOf(type);
}

function keyText(key: unknown): string {
  return typeof key === "string" ? key : (toText(key) ?? "");
}
