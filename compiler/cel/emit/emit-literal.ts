import type { Expression } from "../../../templates/code/hole.ts";
import { name } from "../../../templates/code/names.ts";
import {
  call,
  constant,
  construction,
  listExpression,
  member,
  objectExpression,
  value,
} from "../../../templates/code/syntax.ts";
import type { LiteralValue, Node } from "../parse/ast.ts";
import { type EmittedValue, helper, simple } from "./emitted-value.ts";
import type { Emitter } from "./emitter.ts";

/** Emits a literal. */
export function emitLiteral(literal: LiteralValue): EmittedValue {
  switch (literal.kind) {
    case "null":
      return simple(value(null), "unknown");
    case "bool":
      return simple(value(literal.value), "boolean");
    case "int":
      return emitInt(literal.value);
    case "uint": {
      const number = emitInt(literal.value).expression;
      const made = construction(helper("values/values#Uint"), [number]);
      return simple(constant(`uint${literal.value}`, made), "other");
    }
    case "double":
      return { ...simple(value(literal.value), "number"), isRawDouble: true };
    case "string":
      return simple(value(literal.value), "string");
    case "bytes": {
      const base64 = Buffer.from(literal.value).toString("base64");
      const from = member(name("Buffer"), "from");
      return simple(constant("bytes", call(from, [value(base64), value("base64")])), "bytes");
    }
  }
}

function emitInt(int: bigint): EmittedValue {
  const number = Number(int);
  if (!Number.isSafeInteger(number)) return simple(value(int), "int");
  return { ...simple(value(number), "number"), range: [number, number] };
}

/** Emits a list: as a constant of the module if it is constant, with a check for errors if an element may be one. */
export function emitList(emitter: Emitter, node: Extract<Node, { kind: "list" }>): EmittedValue {
  const elements = node.elements.map((element) => emitter.boxed(element));
  if (elements.some(({ mayFail }) => mayFail)) {
    return emitter.call("collections/collections#list", elements, { ts: "other" });
  }
  const expression = listExpression(elements.map((element) => element.expression));
  if (node.elements.every((element) => isConstant(emitter, element))) {
    return simple(constant("items", expression, "readonly unknown[]"), "other");
  }
  return { expression, ts: "other", mayFail: false };
}

/** Emits a map: as a plain object if its keys are known strings, otherwise as a Map. */
export function emitMap(emitter: Emitter, node: Extract<Node, { kind: "map" }>): EmittedValue {
  const entries = node.entries.map(({ key, value: content }) => ({
    key,
    name: constantString(emitter, key),
    content: emitter.boxed(content),
  }));
  const names = new Set(entries.map(({ name: known }) => known));
  if (names.has(undefined) || names.size < entries.length) {
    const pairs = entries.map(({ key, content }) => ({
      expression: listExpression([emitter.boxed(key).expression, content.expression]),
    }));
    return emitter.call("collections/collections#mapOf", pairs, { ts: "other" });
  }
  const expression: Expression = objectExpression(
    entries.map(({ name: known = "", content }) => [known, content.expression]),
  );
  if (entries.some(({ content }) => content.mayFail)) {
    return emitter.call("collections/collections#record", [{ expression }], { ts: "other" });
  }
  return { expression, ts: "other", mayFail: false };
}

/** Returns the string of a constant string node; `undefined` for other nodes. */
export function constantString(emitter: Emitter, node: Node): string | undefined {
  const literal = node.kind === "literal" ? node.literal : emitter.constantOf(node);
  return literal?.kind === "string" ? literal.value : undefined;
}

function isConstant(emitter: Emitter, node: Node): boolean {
  return node.kind === "literal" || emitter.constantOf(node) !== undefined;
}
