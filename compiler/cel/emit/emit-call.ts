import { name } from "../../../templates/code/names.ts";
import { arrow, binary, call, member } from "../../../templates/code/syntax.ts";
import type { PickedParameters } from "../../model/expressions.ts";
import type { CallNode } from "../parse/ast.ts";
import { checkPattern } from "../regex/check-pattern.ts";
import { patternConstant, patternTest } from "../regex/pattern.ts";
import type { Type } from "../types/types.ts";
import { constantString } from "./emit-literal.ts";
import { operatorValue } from "./emit-operator.ts";
import { type EmittedValue, simple, test } from "./emitted-value.ts";
import type { Emitter } from "./emitter.ts";

/** Emits an operator, a function or a method as a value. */
export function emitCall(emitter: Emitter, node: CallNode): EmittedValue {
  const operator = operatorValue(emitter, node);
  if (operator !== undefined) return operator;
  const call = emitter.checked.callOf(node);
  if (call === undefined) throw new Error(`call of "${node.name}" was not resolved`);
  const special = SPECIAL.get(call.declaration.name)?.(emitter, node, call.args);
  if (special !== undefined) return special;
  return helperCall(
    emitter,
    node,
    call.args.map((arg) => emitter.boxed(arg)),
  );
}

/** Emits a call of the helper of a function with its emitted arguments. */
function helperCall(emitter: Emitter, node: CallNode, args: readonly EmittedValue[]): EmittedValue {
  const declaration = emitter.checked.callOf(node)?.declaration;
  if (declaration === undefined) throw new Error(`call of "${node.name}" was not resolved`);
  return emitter.call(declaration.helper, args, {
    ts: tsTypeOf(emitter.checked.typeOf(node)),
    ...(declaration.range === undefined ? {} : { range: declaration.range }),
  });
}

/** Returns `undefined` before anything is emitted, because nested arguments must not be emitted repeatedly. */
type Special = (
  emitter: Emitter,
  node: CallNode,
  args: CallNode["args"],
) => EmittedValue | undefined;

/** Functions that have a shorter form if enough is known about their arguments. */
const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ["startsWith", stringMethod("startsWith")],
  ["endsWith", stringMethod("endsWith")],
  ["contains", stringMethod("includes")],
  ["matches", matchesCall],
  ["regexReplace", replaceCall],
  ["default", defaultCall],
  ["coalesce", coalesceCall],
  ["split", splitCall],
  ["cookie", parameterOf("cookies")],
  ["query", parameterOf("query")],
]);

/** Emits a CEL string method that JavaScript strings have too. */
function stringMethod(method: string): Special {
  return (emitter, node, args) => {
    const codes = args.map((arg) => emitter.value(arg));
    const [text, part] = codes;
    if (text === undefined || part === undefined) return undefined;
    const areStrings = text.ts === "string" && part.ts === "string";
    if (!areStrings || text.mayFail || part.mayFail) {
      return helperCall(
        emitter,
        node,
        codes.map((code) => emitter.box(code)),
      );
    }
    return test(call(member(text.expression, method), [part.expression]));
  };
}

/**
 * Emits `text.matches(pattern)` with a constant pattern: as string operations, or with a pattern that is compiled once.
 */
function matchesCall(
  emitter: Emitter,
  _node: CallNode,
  args: CallNode["args"],
): EmittedValue | undefined {
  const [subject, pattern] = args;
  if (subject === undefined || pattern === undefined) return undefined;
  const source = constantString(emitter, pattern);
  if (source === undefined || checkPattern(source).length > 0) return undefined;
  const text = emitter.value(subject);
  if (text.ts === "string" && !text.mayFail && !emitter.narrowing.has(text)) {
    return patternTest(source, { subject: text.expression, match: "search" });
  }
  const parameter = name("text");
  const { expression } = patternTest(source, { subject: parameter, match: "search" });
  const matches = { expression: arrow([parameter], expression) };
  return emitter.call("functions/pattern#testText", [text, matches], { ts: "boolean" });
}

/** Emits `text.regexReplace(pattern, replacement)` with a constant pattern that is compiled once. */
function replaceCall(
  emitter: Emitter,
  _node: CallNode,
  args: CallNode["args"],
): EmittedValue | undefined {
  const [subject, pattern, replacement] = args;
  if (subject === undefined || pattern === undefined || replacement === undefined) return undefined;
  const source = constantString(emitter, pattern);
  if (source === undefined || checkPattern(source).length > 0) return undefined;
  const compiled = simple(patternConstant(source), "other");
  const operands = [emitter.value(subject), compiled, emitter.value(replacement)];
  return emitter.call("functions/pattern#replacePattern", operands, { ts: "string" });
}

/** Emits `header.cookie(name)` or `uri.query(name)` as a helper call, and records the name. */
function parameterOf(kind: keyof PickedParameters): Special {
  return (emitter, _node, [, name]) => {
    emitter.reads.parameter(kind, name && constantString(emitter, name));
    return undefined;
  };
}

/** Emits `header.split()` without a separator. */
function splitCall(
  emitter: Emitter,
  _node: CallNode,
  args: CallNode["args"],
): EmittedValue | undefined {
  const [header] = args;
  if (header === undefined || args.length > 1) return undefined;
  return emitter.call("functions/http#splitHeader", [emitter.value(header)]);
}

/** Emits `default(value, fallback)` as `??` if null, which is a value, cannot occur. */
function defaultCall(
  emitter: Emitter,
  node: CallNode,
  args: CallNode["args"],
): EmittedValue | undefined {
  const codes = args.map((arg) => emitter.boxed(arg));
  const [value, fallback] = codes;
  if (value === undefined || fallback === undefined) return undefined;
  if (value.ts === "unknown") return helperCall(emitter, node, codes);
  return fallbacks(codes, value.ts === fallback.ts ? value.ts : "unknown");
}

/** Emits `coalesce(a, b, ...)` as `a ?? b ?? ...`. */
function coalesceCall(
  emitter: Emitter,
  _node: CallNode,
  args: CallNode["args"],
): EmittedValue | undefined {
  const codes = args.map((arg) => emitter.boxed(arg));
  const last = codes.findIndex(({ mayFail, ts }) => !mayFail && ts !== "unknown");
  return fallbacks(last < 0 ? codes : codes.slice(0, last + 1), "unknown");
}

function fallbacks(codes: readonly EmittedValue[], ts: EmittedValue["ts"]): EmittedValue {
  const [only] = codes;
  if (codes.length === 1 && only !== undefined) return only;
  const operands = codes.map(({ expression }) => expression);
  return { expression: binary("??", operands), ts, mayFail: codes.at(-1)?.mayFail ?? true };
}

/** Returns the TypeScript type of a helper's result. */
function tsTypeOf(type: Type): EmittedValue["ts"] {
  switch (type.kind) {
    case "bool":
      return "boolean";
    case "string":
      return "string";
    case "list":
    case "map":
    case "optional":
    case "opaque":
    case "timestamp":
    case "duration":
    case "type":
      return "other";
    default:
      return "unknown";
  }
}
