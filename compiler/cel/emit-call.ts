import type { CallNode } from "./ast.ts";
import { atLevel, type Code, LEVEL } from "./code.ts";
import type { Emitter } from "./emit.ts";
import { constantString } from "./emit-literal.ts";
import { operatorValue } from "./emit-operator.ts";
import { checkPattern, patternCode } from "./pattern.ts";
import { formatType, type Type } from "./types.ts";

/** An operator, a function or a method as a value. */
export function emitCall(emitter: Emitter, node: CallNode): Code {
  const operator = operatorValue(emitter, node);
  if (operator !== undefined) return operator;
  const call = emitter.checked.callOf(node);
  if (call === undefined) throw new Error(`call of "${node.name}" was not resolved`);
  const { declaration, args } = call;
  const special = SPECIAL.get(declaration.name)?.(emitter, node, call.args);
  if (special !== undefined) return special;
  const codes = args.map((arg) => emitter.boxed(arg));
  return emitter.call(declaration.helper, codes, {
    ts: tsTypeOf(emitter.checked.typeOf(node)),
    ...(declaration.range === undefined ? {} : { range: declaration.range }),
  });
}

type Special = (emitter: Emitter, node: CallNode, args: CallNode["args"]) => Code | undefined;

/** Functions that have a shorter form when their arguments are known well enough. */
const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ["startsWith", stringMethod("startsWith")],
  ["endsWith", stringMethod("endsWith")],
  ["contains", stringMethod("includes")],
  ["matches", matchesCall],
]);

/** A method of CEL strings that JavaScript strings have, too. */
function stringMethod(method: string): Special {
  return (emitter, _node, args) => {
    const [text, part] = args.map((arg) => emitter.value(arg));
    if (text === undefined || part === undefined) return undefined;
    const areStrings = text.ts === "string" && part.ts === "string";
    if (!areStrings || text.mayFail || part.mayFail) return undefined;
    return {
      text: `${atLevel(text, LEVEL.primary)}.${method}(${part.text})`,
      level: LEVEL.primary,
      ts: "boolean",
      mayFail: false,
    };
  };
}

/** `text.matches(pattern)` with a constant pattern: string operations, or a pattern compiled once. */
function matchesCall(emitter: Emitter, _node: CallNode, args: CallNode["args"]): Code | undefined {
  const [subject, pattern] = args;
  if (subject === undefined || pattern === undefined) return undefined;
  const source = constantString(emitter, pattern);
  if (source === undefined || checkPattern(source).length > 0) return undefined;
  const text = emitter.value(subject);
  if (text.ts === "string" && !text.mayFail && !emitter.isNarrowed(text)) {
    const code = patternCode(source, { subject: atLevel(text, LEVEL.primary), match: "search" });
    emitter.adopt(code);
    return { text: code.text, level: code.level, ts: "boolean", mayFail: false };
  }
  const code = patternCode(source, { subject: "text", match: "search" });
  emitter.adopt(code);
  const test = { text: `(text) => ${code.text}` };
  return emitter.call("pattern#testText", [text, test], { ts: "boolean" });
}

/** What TypeScript knows of a helper's result. */
function tsTypeOf(type: Type): Code["ts"] {
  switch (formatType(type)) {
    case "bool":
      return "boolean";
    case "string":
      return "string";
    default:
      return "unknown";
  }
}
