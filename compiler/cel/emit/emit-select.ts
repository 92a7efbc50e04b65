import { name } from "../../../templates/code/names.ts";
import { binary, call, member, optionalMember, value } from "../../../templates/code/syntax.ts";
import type { Node } from "../parse/ast.ts";
import { constantString } from "./emit-literal.ts";
import { type EmittedValue, simple, test } from "./emitted-value.ts";
import type { Emitter } from "./emitter.ts";

/** Emits `operand.field` or `operand.?field`. */
export function emitSelect(
  emitter: Emitter,
  node: Extract<Node, { kind: "select" }>,
): EmittedValue {
  const { operand, field } = node;
  if (!node.isOptional) return selected(emitter, operand, field, node);
  if (emitter.checked.declarationOf(node) !== undefined) {
    return emitter.call("values/optional#ofPresent", [selected(emitter, operand, field, node)]);
  }
  const owner = ownerValue(emitter, operand, field);
  if (owner.isJson) {
    return emitter.call("values/optional#ofPresent", [fieldOf(emitter, owner, field)]);
  }
  return emitter.call("values/optional#optionalAt", [emitter.box(owner), stringValue(field)]);
}

/** Emits `operand[index]` or `operand[?index]`. */
export function emitIndex(emitter: Emitter, node: Extract<Node, { kind: "index" }>): EmittedValue {
  if (node.isOptional) {
    return emitter.call("values/optional#optionalAt", [
      emitter.boxed(node.operand),
      emitter.boxed(node.index),
    ]);
  }
  const key = constantString(emitter, node.index);
  if (key !== undefined) return selected(emitter, node.operand, key, undefined);
  const operand = emitter.value(node.operand);
  if (emitter.checked.typeOf(node.operand).kind === "optional") {
    return emitter.call("values/optional#optionalAt", [operand, emitter.boxed(node.index)]);
  }
  return emitter.call("values/select#at", [operand, emitter.boxed(node.index)], {
    ...(operand.isJson ? { isJson: true } : {}),
  });
}

/** Emits `has(operand.field)`: as a boolean if absence cannot be an error, otherwise with a helper. */
export function emitPresence(
  emitter: Emitter,
  node: Extract<Node, { kind: "presence" }>,
): EmittedValue {
  const declaration = emitter.checked.declarationOf(node);
  if (declaration?.code !== undefined) {
    const code = emitter.declared(declaration);
    // Comparing an object with undefined would make TypeScript narrow the paths below it to never.
    return declaration.type.kind === "object" && code.mayFail
      ? emitter.call("values/select#isPresent", [code], { ts: "boolean", mayFail: false })
      : presenceOf(code);
  }
  const header = headerCode(emitter, node.operand, node.field);
  if (header !== undefined) return presenceOf(header);
  const operand = ownerValue(emitter, node.operand, node.field);
  if (operand.isJsonRoot) return presenceOf(ownCode(emitter, operand, node.field));
  if (emitter.checked.typeOf(node.operand).kind === "optional") {
    return emitter.call("values/optional#hasIn", [operand, stringValue(node.field)], {
      ts: "boolean",
    });
  }
  return emitter.call("values/select#hasField", [operand, stringValue(node.field)], {
    ts: "boolean",
  });
}

/** Emits a boolean for whether there is a value. */
export function presenceOf({ expression, mayFail }: EmittedValue): EmittedValue {
  if (!mayFail) return test(value(true));
  const absent = value(undefined);
  return test(binary("!==", [expression, absent]), binary("===", [expression, absent]));
}

function selected(
  emitter: Emitter,
  operandNode: Node,
  field: string,
  node: Node | undefined,
): EmittedValue {
  const declaration = node === undefined ? undefined : emitter.checked.declarationOf(node);
  if (declaration !== undefined) return emitter.declared(declaration);
  const header = headerCode(emitter, operandNode, field);
  if (header !== undefined) return header;
  const operand = ownerValue(emitter, operandNode, field);
  if (emitter.checked.typeOf(operandNode).kind === "optional") {
    return emitter.call("values/optional#optionalAt", [operand, stringValue(field)]);
  }
  return fieldOf(emitter, operand, field);
}

function fieldOf(emitter: Emitter, owner: EmittedValue, field: string): EmittedValue {
  if (owner.isJsonRoot) return ownCode(emitter, owner, field);
  const args = [owner, stringValue(field)];
  return emitter.call("values/select#field", args, owner.isJson ? { isJson: true } : {});
}

/** Emits `request.headers["x-id"]` as a request for that single header; names are case-insensitive. */
export function headerCode(emitter: Emitter, operand: Node, key: string): EmittedValue | undefined {
  const declaration = emitter.checked.declarationOf(operand);
  if (declaration === undefined || !declaration.path.endsWith(".headers")) return undefined;
  const [owner = ""] = declaration.path.split(".");
  const header = key.toLowerCase();
  emitter.reads.declared(declaration, [header]);
  const expression = call(member(name(owner), "header"), [value(header)]);
  return { expression, ts: "string", mayFail: true };
}

/** Emits a property of a JSON object or null; a name that all objects inherit is read with a helper. */
function ownCode(emitter: Emitter, root: EmittedValue, field: string): EmittedValue {
  if (field in Object.prototype) {
    return emitter.call("values/select#own", [root, stringValue(field)], { isJson: true });
  }
  const expression = optionalMember(root.expression, field);
  return { expression, ts: "unknown", mayFail: true, isJson: true, isSimple: true };
}

function stringValue(text: string): EmittedValue {
  return simple(value(text), "string");
}

/** Emits the value that a field is selected from. For a chain `jwt.a.b`, only the whole path is recorded as read. */
function ownerValue(emitter: Emitter, operand: Node, field: string): EmittedValue {
  const path = pathOf(emitter, operand);
  if (path === undefined) return emitter.value(operand);
  return emitter.reads.only([...path, field], () => emitter.value(operand));
}

function pathOf(emitter: Emitter, node: Node): readonly string[] | undefined {
  const declaration = emitter.checked.declarationOf(node);
  if (declaration !== undefined) return declaration.path.split(".");
  if (node.kind === "select") {
    const path = pathOf(emitter, node.operand);
    return path === undefined ? undefined : [...path, node.field];
  }
  return undefined;
}
