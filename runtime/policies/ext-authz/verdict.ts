import type { JsonObject } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import type { HeaderEdit } from "../../http/headers/header-edits.ts";
import { refuse } from "../../http/refuse.ts";
import { withoutParameter } from "../../http/routing/query.ts";
import { editRequest, editResponse } from "../envoy/header-edits.ts";
import { replyFor, type ServerReply } from "../envoy/server-reply.ts";

/** The decision of an authorization server about a request. */
export interface AuthorizationVerdict {
  readonly kind: "verdict";
  /** The status of the server's response, for the log: `gRPC status 7`, `status 401`. */
  readonly status: string;
  /** The response to a refused client: the server's, or a refusal by the gateway. `undefined` if the request is allowed. */
  readonly denial: ServerReply | "refusal" | undefined;
  /** Lower-case names of request headers to remove before `headers` are applied. */
  readonly removed: readonly string[];
  readonly headers: readonly HeaderEdit[];
  readonly query: {
    readonly set: readonly (readonly [name: string, value: string])[];
    readonly removed: readonly string[];
  };
  /** Headers for the response to the client. */
  readonly responseHeaders: readonly HeaderEdit[];
  /** The values for later expressions under `extauthz`. */
  readonly metadata: JsonObject | undefined;
}

/** The reason for a missing verdict, for the log. */
export interface NoVerdict {
  readonly kind: "none";
  readonly detail: string;
}

/** A verdict that allows the request and changes nothing. */
export const plainVerdict: AuthorizationVerdict = {
  kind: "verdict",
  status: "",
  denial: undefined,
  removed: [],
  headers: [],
  query: { set: [], removed: [] },
  responseHeaders: [],
  metadata: undefined,
};

/** Applies a verdict. Returns false if the request was refused. `server`: its `host:port`, for the log. */
export function applyVerdict(
  exchange: Exchange,
  verdict: AuthorizationVerdict,
  server: string,
): boolean {
  const { denial, metadata } = verdict;
  if (metadata !== undefined) exchange.attributes.extauthz = metadata;
  if (denial !== undefined) note(exchange, `denied by ${server} (${verdict.status})`);
  if (denial === "refusal") return refuseUnapproved(exchange, 403);
  if (denial !== undefined) {
    exchange.record.reason = "ExtAuth";
    const { status, headers, body } = replyFor(exchange, denial);
    exchange.respond(status, headers, body);
    return false;
  }
  for (const name of verdict.removed) exchange.removeRequestHeader(name);
  editRequest(exchange, verdict.headers);
  editQuery(exchange, verdict.query);
  editResponse(exchange, verdict.responseHeaders);
  return true;
}

/** Handles a missing verdict: the request continues, or is refused with the status. */
export function applyFailure(
  exchange: Exchange,
  { detail }: NoVerdict,
  failure: number | "allow",
): boolean {
  note(exchange, detail);
  return failure === "allow" || refuseUnapproved(exchange, failure);
}

function note({ record }: Exchange, detail: string): void {
  logFields(record).set("error", `external authorization: ${detail}`);
}

function refuseUnapproved(exchange: Exchange, status: number): false {
  refuse(exchange, status, "ExtAuth", "external authorization failed");
  return false;
}

/** Changes the query. Before routing it changes the request itself, as routes may depend on the query. */
function editQuery(exchange: Exchange, { set, removed }: AuthorizationVerdict["query"]): void {
  if (set.length === 0 && removed.length === 0) return;
  const isRouted = exchange.record.route !== undefined;
  const before = isRouted ? exchange.upstreamTarget : exchange.target;
  const names = [...removed, ...set.map(([name]) => name)];
  const kept = names.reduce(withoutParameter, before);
  const added = set.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  const target = added === "" ? kept : `${kept}${kept.includes("?") ? "&" : "?"}${added}`;
  if (isRouted) exchange.upstreamTarget = target;
  else exchange.reroute({ target });
}
