import { createHash } from "node:crypto";
import { pickUpstream, type WeightedUpstreams, weighUpstreams } from "../backends/weighted.ts";
import { readWhole } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { stringAt } from "../json/json-text.ts";
import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";
import { readMessageBytes } from "./protocol/message.ts";
import { paramOf } from "./protocol/message-edit.ts";
import { SESSION_REVISIONS } from "./protocol/revisions.ts";
import { refuseUnknownSession } from "./session/sessions.ts";
import type { McpBackend } from "./transports/backend.ts";

/** An MCP backend of several, or the servers of its route that requests are passed on to. */
export type Share = McpBackend | "others";

/** How the requests of a route are shared. */
export interface SharesSettings {
  /** At least one; weights are above zero. */
  readonly mcp: readonly { readonly weight: number; readonly backend: McpBackend }[];
  /** What all servers take that requests are passed on to; absent: there are none. */
  readonly others?: number;
}

/** The same, ready for the choice. */
export interface Shares {
  readonly backends: readonly McpBackend[];
  readonly hasOthers: boolean;
  readonly weighted: WeightedUpstreams<Share>;
}

/**
 * A backend as one of several: a client is known by what the gateway has given it, so nothing is passed on unread. `same`:
 * how many before it have the same targets.
 */
export function sharedBackend(backend: McpBackend, same: number): McpBackend {
  const hash = createHash("sha256").update(`${backend.targetDigest} ${same}`);
  const targetDigest = hash.digest("base64url");
  return {
    ...backend,
    passthrough: undefined,
    targetDigest,
    tag: `gwc-${targetDigest.slice(0, 8)}.`,
  };
}

/** Prepares the choice. */
export function openShares({ mcp, others }: SharesSettings): Shares {
  const shares = mcp.map(({ weight, backend }) => ({ weight, upstream: backend as Share }));
  const rest = others === undefined ? [] : [{ weight: others, upstream: "others" as const }];
  return {
    backends: mcp.map(({ backend }) => backend),
    hasOthers: others !== undefined,
    weighted: weighUpstreams<Share>([...shares, ...rest]),
  };
}

/**
 * Who serves a request: whoever opened the session, or the call of several rounds, that it belongs to; what belongs to none
 * is shared by weight. Undefined: it was refused.
 */
export function chooseShare(exchange: Exchange, shares: Shares): MaybePromise<Share | undefined> {
  const session = exchange.header("mcp-session-id");
  if (session !== undefined) {
    const owner = ownerOf(session, shares);
    if (owner === undefined) refuseUnknownSession(exchange);
    return owner;
  }
  return thenMaybe(stateOf(exchange, shares), (state) => {
    if (state === "refused") return undefined;
    if (state === undefined) return pickUpstream(shares.weighted);
    // Nobody has given it: any of them says so.
    return ownerOf(state, shares) ?? shares.backends[0];
  });
}

/** What no backend here has given is of a server behind the others: its ids are passed on as they are. */
function ownerOf(shown: string, { backends, hasOthers }: Shares): Share | undefined {
  const owner = backends.find(({ tag }) => tag !== undefined && shown.startsWith(tag));
  return owner ?? (hasOthers ? "others" : undefined);
}

/** The state of a call of several rounds, which stands in the body (MCP 2026-07-28); undefined: the request has none. */
function stateOf(
  exchange: Exchange,
  { backends }: Shares,
): MaybePromise<string | "refused" | undefined> {
  const version = exchange.header("mcp-protocol-version");
  if (exchange.method !== "POST" || version === undefined || SESSION_REVISIONS.has(version))
    return undefined;
  const limit = Math.max(...backends.map(({ limits }) => limits.body));
  return thenMaybe(readWhole(exchange, limit), (bytes) => {
    if (bytes === undefined) return "refused";
    const message = readMessageBytes(bytes);
    if (message.kind === "problem") return undefined;
    return stringAt(message.text, paramOf(message, "requestState"));
  });
}
