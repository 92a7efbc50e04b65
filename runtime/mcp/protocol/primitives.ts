import { isObjectAt, stringAt, type TextRange } from "../../json/json-text.ts";
import { ITEM_LIST_NAMES, itemLists, type McpPrimitiveKind } from "./item-lists.ts";
import type { Message } from "./message.ts";
import { readFields } from "./message-fields.ts";

/** The tool, prompt or resource that a request is about. */
export interface AddressedPrimitive {
  readonly kind: McpPrimitiveKind;
  /** The name or URI as the client sent it. */
  readonly name: string;
  /** The range of the string in the message. */
  readonly at: TextRange;
}

/** The item of a request, or why it cannot be read. A `problem` is the message of a -32602 error. */
export type Addressed =
  | { readonly kind: "item"; readonly item: AddressedPrimitive }
  | { readonly kind: "problem"; readonly message: string };

/** Finds the item that a request names; `undefined` if its method names none. */
export function addressedPrimitive(message: Message): Addressed | undefined {
  const place = ITEM_METHODS.get(message.method);
  if (place === undefined) return undefined;
  if (message.paramFields === undefined) return problem("params must be an object");
  const fields = message.paramFields.among(PARAM_NAMES);
  if (typeof fields === "string") return problem(fields);
  if (place === "ref") return referencedItem(message.text, fields.get("ref"));
  return named(message.text, place.kind, fields.get(place.field), place.field);
}

/** Whether the response to a method lists items; `tasks/result` may return such a response. */
export function isListMethod(method: string): boolean {
  return listMethods.has(method);
}

/** Returns the error for an unknown item. Hidden items get the same one, so that clients cannot tell the difference. */
export function unknownPrimitive(kind: McpPrimitiveKind, nameAsSent: string): string {
  return `Unknown ${kind}: ${nameAsSent}`;
}

interface ItemPlace {
  readonly kind: McpPrimitiveKind;
  readonly field: string;
}

/** The parameter with the item's name, by method (MCP 2025-11-25, schema). */
const ITEM_METHODS: ReadonlyMap<string, ItemPlace | "ref"> = new Map<string, ItemPlace | "ref">([
  ["tools/call", { kind: "tool", field: "name" }],
  ["prompts/get", { kind: "prompt", field: "name" }],
  ["resources/read", { kind: "resource", field: "uri" }],
  ["resources/subscribe", { kind: "resource", field: "uri" }],
  ["resources/unsubscribe", { kind: "resource", field: "uri" }],
  ["completion/complete", "ref"],
]);

const listMethods: ReadonlySet<string> = new Set([
  ...ITEM_LIST_NAMES.map((list) => itemLists[list].method),
  "tasks/result",
]);

const PARAM_NAMES: ReadonlySet<string> = new Set(["name", "uri", "ref", "type", "arguments"]);

function referencedItem(text: string, ref: TextRange | undefined): Addressed {
  if (ref === undefined || !isObjectAt(text, ref.start)) return problem("ref must be an object");
  const fields = readFields(text, ref.start, PARAM_NAMES);
  if (typeof fields === "string") return problem(fields);
  switch (stringAt(text, fields.get("type"))) {
    case "ref/prompt":
      return named(text, "prompt", fields.get("name"), "ref.name");
    case "ref/resource":
      return named(text, "resource", fields.get("uri"), "ref.uri");
    default:
      return problem("ref.type must be ref/prompt or ref/resource");
  }
}

function named(
  text: string,
  kind: McpPrimitiveKind,
  at: TextRange | undefined,
  field: string,
): Addressed {
  const name = stringAt(text, at);
  if (name === undefined || at === undefined) return problem(`${field} must be a string`);
  return { kind: "item", item: { kind, name, at } };
}

function problem(message: string): Addressed {
  return { kind: "problem", message: `Invalid params: ${message}` };
}

/** Returns the name of an item for logs, spans and metrics, without the query of a resource's URI, which may contain a key. */
export function shownName({
  kind,
  name,
}: {
  readonly kind: McpPrimitiveKind;
  readonly name: string;
}): string {
  return kind === "resource" ? name.replace(/\?.*/s, "") : name;
}
