import type { LiteralValue, Node } from "../parse/ast.ts";
import { type Code, LINE, PRECEDENCE, stringCode, stringLiteral } from "./code.ts";
import { arrayText } from "./code-parts.ts";
import type { Emitter } from "./emit.ts";

const sure = { mayFail: false, isSimple: true } as const;

/** A constant. */
export function emitLiteral(emitter: Emitter, literal: LiteralValue): Code {
  switch (literal.kind) {
    case "null":
      return { text: "null", level: PRECEDENCE.primary, ts: "unknown", ...sure };
    case "bool":
      return { text: String(literal.value), level: PRECEDENCE.primary, ts: "boolean", ...sure };
    case "int":
      return emitInt(literal.value);
    case "uint": {
      const { text } = emitInt(literal.value);
      const name = emitter.hoist(`uint${literal.value}`, `new Uint(${text})`, "values/values#Uint");
      return { text: name, level: PRECEDENCE.primary, ts: "other", ...sure };
    }
    case "double":
      return emitDouble(literal.value);
    case "string":
      return { ...stringCode(literal.value), ts: "string", ...sure };
    case "bytes": {
      const base64 = Buffer.from(literal.value).toString("base64");
      const text = emitter.hoist("bytes", `Buffer.from(${stringLiteral(base64)}, "base64")`);
      return { text, level: PRECEDENCE.primary, ts: "bytes", ...sure };
    }
  }
}

function emitInt(value: bigint): Code {
  const number = Number(value);
  const level = value < 0n ? PRECEDENCE.unary : PRECEDENCE.primary;
  if (!Number.isSafeInteger(number)) return { text: `${value}n`, level, ts: "int", ...sure };
  return { text: String(number), level, ts: "number", range: [number, number], ...sure };
}

function emitDouble(value: number): Code {
  const level = value < 0 || Object.is(value, -0) ? PRECEDENCE.unary : PRECEDENCE.primary;
  return { text: doubleText(value), level, ts: "number", isRawDouble: true, ...sure };
}

function doubleText(value: number): string {
  if (Object.is(value, -0)) return "-0";
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return "Number.NaN";
  return value > 0 ? "Number.POSITIVE_INFINITY" : "Number.NEGATIVE_INFINITY";
}

/** A list: a constant of the module when it is constant, checked for errors when an element may be one. */
export function emitList(emitter: Emitter, node: Extract<Node, { kind: "list" }>): Code {
  const elements = node.elements.map((element) => emitter.boxed(element));
  const texts = elements.map(({ text }) => text);
  if (elements.some(({ mayFail }) => mayFail)) {
    return emitter.call("collections/collections#list", elements, { ts: "other" });
  }
  const text = arrayText(texts);
  if (node.elements.every((element) => isConstant(emitter, element))) {
    const name = emitter.context.constant("items", text, [], "readonly unknown[]");
    return { text: name, level: PRECEDENCE.primary, ts: "other", ...sure };
  }
  return { text, level: PRECEDENCE.primary, ts: "other", mayFail: false };
}

/** A map: a plain object when its keys are known strings, else a Map. */
export function emitMap(emitter: Emitter, node: Extract<Node, { kind: "map" }>): Code {
  const keys = node.entries.map(({ key }) => constantString(emitter, key));
  const values = node.entries.map(({ value }) => emitter.boxed(value));
  const isRecord = keys.every((key) => key !== undefined) && new Set(keys).size === keys.length;
  if (!isRecord) {
    const entries = node.entries.map(({ key }, at) => {
      const parts = [emitter.boxed(key).text, values[at]?.text ?? ""];
      return { text: `[${parts.join(", ")}]` };
    });
    return emitter.call("collections/collections#mapOf", entries, { ts: "other" });
  }
  const text = objectText(keys.map((key = "", at) => [key, values[at]?.text ?? ""]));
  if (values.some(({ mayFail }) => mayFail)) {
    return emitter.call("collections/collections#record", [{ text }], { ts: "other" });
  }
  return { text, level: PRECEDENCE.primary, ts: "other", mayFail: false };
}

/** The string that a node is, when it is a constant one. */
export function constantString(emitter: Emitter, node: Node): string | undefined {
  const literal = node.kind === "literal" ? node.literal : emitter.constantOf(node);
  return literal?.kind === "string" ? literal.value : undefined;
}

function isConstant(emitter: Emitter, node: Node): boolean {
  return node.kind === "literal" || emitter.constantOf(node) !== undefined;
}

function objectText(entries: readonly (readonly [string, string])[]): string {
  if (entries.length === 0) return "{}";
  const texts = entries.map(([key, text]) => `${propertyName(key)}: ${text}`);
  return `{${LINE}${texts.join(`,${LINE}`)}${LINE}}`;
}

/** A property name in an object literal: `__proto__` must be computed to be a property at all. */
function propertyName(key: string): string {
  if (key === "__proto__") return `["__proto__"]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : stringLiteral(key);
}
