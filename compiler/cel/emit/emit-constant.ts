import { constant, construction, value } from "../../../templates/code/syntax.ts";
import type { Node } from "../parse/ast.ts";
import type { Emitter } from "./emit.ts";
import { type EmittedValue, helper, literalIn, simple } from "./emitted-value.ts";

/** Emits a constant that is not a literal, which is created once when the module is loaded; `emitted` creates it. */
export function constantValue(emitter: Emitter, node: Node, emitted: EmittedValue): EmittedValue {
  const { expression } = emitted;
  if (expression.kind === "constant" || expression.kind === "value") return emitted;
  const { kind } = emitter.checked.typeOf(node);
  return simple(constant(CONSTANT_NAMES.get(kind) ?? "constant", expression), "other");
}

/** Emits a type as a value: `int`. */
export function typeValue(typeName: string): EmittedValue {
  const last = typeName.split(".").at(-1) ?? "";
  const proposal = `${last.charAt(0).toLowerCase()}${last.slice(1)}Type`;
  const made = construction(helper("values/types#TypeValue"), [value(typeName)]);
  return simple(constant(proposal, made), "other");
}

/** Boxes a double that is a JavaScript number, so that helpers and containers can distinguish it from an int. */
export function boxDouble(emitter: Emitter, emitted: EmittedValue): EmittedValue {
  if (emitted.isRawDouble !== true) return emitted;
  const number = literalIn(emitted);
  if (typeof number === "number" && Number.isFinite(number)) {
    const looksLikeInt = Number.isSafeInteger(number) && !Object.is(number, -0);
    if (!looksLikeInt) return { ...emitted, isRawDouble: false, ts: "unknown" };
    const proposal = `double${number < 0 ? "Minus" : ""}${Math.abs(number)}`;
    const made = construction(helper("values/values#Double"), [value(number)]);
    return simple(constant(proposal, made), "other");
  }
  const { mayFail } = emitted;
  return emitter.call("values/values#double", [emitted], { ts: "unknown", mayFail });
}

/** Names of constants by type. */
const CONSTANT_NAMES: ReadonlyMap<string, string> = new Map([
  ["list", "items"],
  ["map", "mapping"],
  ["timestamp", "instant"],
  ["duration", "period"],
  ["opaque", "network"],
]);
