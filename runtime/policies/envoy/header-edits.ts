import type {
  HeaderValue,
  HeaderValueOption,
} from "../../grpc/gen/envoy/config/core/v3/base_pb.ts";
import type { Exchange } from "../../http/exchange.ts";
import { hopByHop } from "../../http/headers/hop-by-hop.ts";
import { fieldValue } from "../transformations/field-value.ts";

/** What becomes of the headers of a name (`HeaderValueOption.HeaderAppendAction`). */
export type HeaderAction = "append" | "addIfAbsent" | "overwrite" | "overwriteIfPresent";

/** One header that a server of Envoy's protocols decided on; its name in lower case. */
export interface HeaderEdit {
  readonly name: string;
  readonly value: string;
  readonly action: HeaderAction;
}

const actions = ["append", "addIfAbsent", "overwrite", "overwriteIfPresent"] as const;

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
    const action = appendAction === 0 ? byOld : (actions[appendAction] ?? unset);
    return [{ ...field, action }];
  });
}

/** A header's name in lower case and its value; undefined for one that nobody may set. */
export function readHeader(
  header: HeaderValue,
): { readonly name: string; readonly value: string } | undefined {
  const name = header.key.toLowerCase();
  const value = fieldValue(headerBytes(header));
  return value === undefined || !isSettable(name) ? undefined : { name, value };
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
  return /^[a-z0-9!#$%&'*+\-.^_`|~]+$/.test(name) && name !== "host" && !hopByHop.has(name);
}

/** The headers of a request that a server may be shown: with the protocol that its connection is to change to. */
export function shownHeaders({ requestHeaders, upgrade }: Exchange): readonly string[] {
  return upgrade === undefined ? requestHeaders : [...requestHeaders, "upgrade", upgrade];
}

/** Whether a server is shown a header: what belongs to the client's connection says nothing of the request. */
export function isShown(name: string): boolean {
  return !connectionHeaders.has(name);
}

const connectionHeaders: ReadonlySet<string> = new Set([
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
  const list = edits.flatMap(({ name, value }) => [name, value]);
  const isTyped = edits.some(({ name }) => name === "content-type");
  return isTyped || !hasBody ? list : [...list, "content-type", "text/plain"];
}

/** Changes the request. */
export function editRequest(exchange: Exchange, edits: readonly HeaderEdit[]): void {
  for (const { name, value, action } of edits) {
    const isThere = exchange.header(name) !== undefined;
    if (action === "append") exchange.addRequestHeader(name, value);
    else if (action === "overwrite" || isThere === (action === "overwriteIfPresent"))
      exchange.setRequestHeader(name, value);
  }
}

/** Changes whatever response the exchange gets. */
export function editResponse(exchange: Exchange, edits: readonly HeaderEdit[]): void {
  for (const { name, value, action } of edits) {
    if (action === "append") exchange.addResponseHeader(name, value);
    else if (action === "overwrite") exchange.setResponseHeader(name, value);
    else exchange.setResponseHeaderIf(action === "overwriteIfPresent", name, value);
  }
}
