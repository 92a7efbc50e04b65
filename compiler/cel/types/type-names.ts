import type { Node } from "../parse/ast.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from "./types.ts";

/** `a.b.c`, for a chain of selections that starts at a name. */
export function dottedName(node: Node): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "select") return undefined;
  const before = dottedName(node.operand);
  return before === undefined ? undefined : `${before}.${node.field}`;
}

/** Names of types, which are values. */
export const typeNames: ReadonlyMap<string, Type> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["null_type", NULL],
  ["type", { kind: "opaque", name: "type" }],
  ["optional_type", optionalOf(DYN)],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["google.protobuf.Duration", DURATION],
  ["net.IP", { kind: "opaque", name: "ip" }],
  ["net.CIDR", { kind: "opaque", name: "cidr" }],
]);
