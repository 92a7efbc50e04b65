import type { Node } from "../parse/ast.ts";
import { type Code, PRECEDENCE } from "./code.ts";
import type { Emitter } from "./emit.ts";

/** A constant that is no literal is made once, when the module is loaded; `code` makes it. */
export function constantValue(emitter: Emitter, node: Node, code: Code): Code {
  // what is a name already is one of a constant
  if (/^\w+$/.test(code.text)) return code;
  const { kind } = emitter.checked.typeOf(node);
  const proposal = CONSTANT_NAMES.get(kind) ?? "constant";
  const text = emitter.context.constant(proposal, code.text, []);
  return { text, level: PRECEDENCE.primary, ts: "other", mayFail: false, isSimple: true };
}

/** A type as a value: `int`. */
export function typeValue(emitter: Emitter, name: string): Code {
  const proposal = `${name
    .split(".")
    .at(-1)
    ?.replace(/^[A-Z]/, (letter) => letter.toLowerCase())}Type`;
  const text = emitter.hoist(proposal, `new TypeValue("${name}")`, "values/types#TypeValue");
  return { text, level: PRECEDENCE.primary, ts: "other", mayFail: false, isSimple: true };
}

/** A double in the form of a number as helpers and containers take it: told from an int. */
export function boxDouble(emitter: Emitter, code: Code): Code {
  if (code.isRawDouble !== true) return code;
  const number = Number(code.text);
  if (Number.isFinite(number) && !(Number.isSafeInteger(number) && !Object.is(number, -0))) {
    return { ...code, isRawDouble: false, ts: "unknown" };
  }
  if (!Number.isNaN(number)) {
    const name = `double${code.text.replace("-", "Minus").replace(/\W/g, "_")}`;
    const text = emitter.hoist(name, `new Double(${code.text})`, "values/values#Double");
    return { text, level: PRECEDENCE.primary, ts: "other", mayFail: false, isSimple: true };
  }
  return emitter.call("values/values#double", [code], { ts: "unknown", mayFail: code.mayFail });
}

/** What constants are called by their type. */
const CONSTANT_NAMES: ReadonlyMap<string, string> = new Map([
  ["list", "items"],
  ["map", "entries"],
  ["timestamp", "instant"],
  ["duration", "period"],
  ["opaque", "network"],
]);
