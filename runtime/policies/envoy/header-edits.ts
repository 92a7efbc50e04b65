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
 * The headers of a response that may be set. `unset` is what an option does that says nothing: on the wire that can't be
 * told from `APPEND_IF_EXISTS_OR_ADD`.
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
 * A header's name in lower case and its value; `undefined` for one that nobody may set. A name with blanks around it means the
 * header without them: its value can't be set.
 */
export function readHeader(header: HeaderValue): Omit<HeaderEdit, "action"> | undefined {
  const name = editedName(header.key);
  if (name === undefined) return undefined;
  const isPadded = name.length !== header.key.length;
  return { name, value: isPadded ? undefined : fieldValue(headerBytes(header)) };
}

/** The names of headers that a server removes, in lower case, as far as it may. */
export function removedNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => editedName(name) ?? []);
}

/** A name in lower case; `undefined` for one that nobody may set, or that no request can have. */
function editedName(name: string): string | undefined {
  const found = name.trim().toLowerCase();
  return isSettable(found) ? found : undefined;
}

/** What a header says, a character for each byte: servers that were written for Envoy fill either field, depending on the protocol. */
export function headerBytes({ rawValue, value }: HeaderValue): string {
  return Buffer.from(rawValue.length > 0 ? rawValue : value).toString("latin1");
}

/**
 * Whether a server may set or remove a header: none that frames the message or belongs to the connection. Host and pseudo
 * headers chose the route: what was authorized is what is sent on.
 */
export function isSettable(name: string): boolean {
  return isToken(name) && name !== "host" && !HOP_BY_HOP.has(name);
}

/** The headers of a request that a server may be shown: with the protocol that its connection is to change to. */
export function shownHeaders({ requestHeaders, upgrade }: Exchange): readonly string[] {
  return upgrade === undefined ? requestHeaders : [...requestHeaders, "upgrade", upgrade];
}

/** Whether a server is shown a header: what belongs to the client's connection says nothing of the request. */
export function isShown(name: string): boolean {
  return !CONNECTION_HEADERS.has(name);
}

const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
]);

/** The headers of a response that a server has for the client: a body without a type is plain text, and nothing else. */
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

/** Changes whatever response the exchange gets. */
export function editResponse(exchange: Exchange, edits: readonly HeaderEdit[]): void {
  if (edits.length > 0) editHeaders(editedResponse(exchange), edits);
}
