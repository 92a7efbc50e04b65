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

/** One of a route's MCP backends, or its other servers, to which requests are forwarded. */
export type Share = McpBackend | "others";

/** The traffic split of a route. */
export interface SharesSettings {
  /** At least one; weights are above zero. */
  readonly mcp: readonly { readonly weight: number; readonly backend: McpBackend }[];
  /** The total weight of the servers to which requests are forwarded; absent if there are no such servers. */
  readonly others?: number;
}

/** The traffic split, ready for use. */
export interface Shares {
  readonly backends: readonly McpBackend[];
  readonly hasOthers: boolean;
  readonly weighted: WeightedUpstreams<Share>;
}

/**
 * Returns a backend for a route with several. The gateway recognizes clients by the ids that it has issued, so nothing is
 * passed through. `same`: the number of preceding backends with the same targets.
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

/** Prepares the traffic split. */
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
 * Chooses the share that serves a request: the one that opened the session or waiting call of the request; otherwise by
 * weight. `undefined` if the request was refused.
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
    // No backend has issued this state; any of them refuses it.
    return ownerOf(state, shares) ?? shares.backends[0];
  });
}

/**
 * Returns the owner of an id or state. One that no backend here has issued belongs to the other servers, whose ids are
 * forwarded unchanged.
 */
function ownerOf(shown: string, { backends, hasOthers }: Shares): Share | undefined {
  const owner = backends.find(({ tag }) => tag !== undefined && shown.startsWith(tag));
  return owner ?? (hasOthers ? "others" : undefined);
}

/** Returns the state of a waiting call from the body (MCP 2026-07-28); `undefined` if the request has none. */
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
