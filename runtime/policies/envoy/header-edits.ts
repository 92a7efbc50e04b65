import type {
  HeaderValue,
  HeaderValueOption,
} from "../../grpc/gen/envoy/config/core/v3/base_pb.ts";
import { editedRequest, editedResponse } from "../../http/edited-exchange.ts";
import type { Exchange } from "../../http/exchange.ts";
import {
  editHeaders,
  type HeaderAction,
  type HeaderEdit,
} from "../../http/headers/header-edits.ts";
import { HOP_BY_HOP } from "../../http/headers/hop-by-hop.ts";
import { isToken } from "../../http/http1/fields.ts";
import { fieldValue } from "../transformations/field-value.ts";

/** `HeaderValueOption.HeaderAppendAction`. */
const ACTIONS = ["append", "addIfAbsent", "overwrite", "overwriteIfPresent"] as const;

/**
 * Returns the edits of a response that are allowed. `unset` is the action of an option without one, which the protocol
 * cannot distinguish from `APPEND_IF_EXISTS_OR_ADD`.
 */
export function headerEdits(
  options: readonly HeaderValueOption[],
  unset: HeaderAction,
): readonly HeaderEdit[] {
  return options.flatMap(({ header, append, appendAction }) => {
    const field = header && readHeader(header);
    if (field === undefined) return [];
    const byOld = append === undefined ? unset : append ? "append" : "overwrite";
    const action = appendAction === 0 ? byOld : (ACTIONS[appendAction] ?? unset);
    return [{ ...field, action }];
  });
}

/**
 * Returns a header's value and its name in lower case; `undefined` if it must not be set. A name with surrounding spaces
 * means the header without them, but its value cannot be set.
 */
export function readHeader(header: HeaderValue): Omit<HeaderEdit, "action"> | undefined {
  const name = editedName(header.key);
  if (name === undefined) return undefined;
  const isPadded = name.length !== header.key.length;
  return { name, value: isPadded ? undefined : fieldValue(headerBytes(header)) };
}

/** Returns the lower-case names of the headers that a server may remove. */
export function removedNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => editedName(name) ?? []);
}

/** Returns a name in lower case; `undefined` if the header must not be set or cannot occur in a request. */
function editedName(name: string): string | undefined {
  const found = name.trim().toLowerCase();
  return isSettable(found) ? found : undefined;
}

/** Returns a header's value with one character per byte. Servers for Envoy fill either field, depending on the protocol. */
export function headerBytes({ rawValue, value }: HeaderValue): string {
  return Buffer.from(rawValue.length > 0 ? rawValue : value).toString("latin1");
}

/**
 * Whether a server may set or remove a header. Headers that frame the message or belong to the connection are excluded, as
 * are Host and pseudo headers: they chose the route, and the authorized request must be the forwarded one.
 */
export function isSettable(name: string): boolean {
  return isToken(name) && name !== "host" && !HOP_BY_HOP.has(name);
}

/** Returns the request headers for a server, including the protocol of an upgrade. */
export function shownHeaders({ requestHeaders, upgrade }: Exchange): readonly string[] {
  return upgrade === undefined ? requestHeaders : [...requestHeaders, "upgrade", upgrade];
}

/** Whether a server receives a header. Headers of the client's connection do not describe the request. */
export function isShown(name: string): boolean {
  return !CONNECTION_HEADERS.has(name);
}

const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
]);

/** Returns the headers of a server's response to the client; a body without a type is plain text. */
export function replyHeaders(
  options: readonly HeaderValueOption[],
  hasBody: boolean,
): readonly string[] {
  const edits = headerEdits(options, "append");
  const list = edits.flatMap(({ name, value }) => (value === undefined ? [] : [name, value]));
  const isTyped = edits.some(({ name }) => name === "content-type");
  return isTyped || !hasBody ? list : [...list, "content-type", "text/plain"];
}

/** Changes the request. */
export function editRequest(exchange: Exchange, edits: readonly HeaderEdit[]): void {
  if (edits.length > 0) editHeaders(editedRequest(exchange), edits);
}

/** Changes the response to the client. */
export function editResponse(exchange: Exchange, edits: readonly HeaderEdit[]): void {
  if (edits.length > 0) editHeaders(editedResponse(exchange), edits);
}
