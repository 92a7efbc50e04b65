import type { Exchange } from "../../http/exchange.ts";
import { metaKey, withParams } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { CallSink, StreamableHttpTarget } from "../transports/target.ts";
import type { EraVerdict } from "../transports/target-era.ts";
import { callStateless } from "./stateless-call.ts";

/** A question of the gateway's own: what a server offers. `id` is JSON text. */
export function discoverRequest(id: string): Message {
  const message = ownMessage(`{"jsonrpc":"2.0","id":${id},"method":"server/discover"}`);
  return withParams(message, {
    [metaKey.protocolVersion]: JSON.stringify(STATELESS_REVISION),
    [metaKey.clientCapabilities]: "{}",
    [metaKey.clientInfo]: '{"name":"gwc","version":"1"}',
  });
}

/** Asks an HTTP target whether it speaks the stateless revision, with the credentials of the client that wants to know. */
export function discoverOverHttp(
  exchange: Exchange,
  target: StreamableHttpTarget,
  limit: number,
): Promise<EraVerdict> {
  return new Promise((resolve) => {
    const request = discoverRequest('"gwc-discover"');
    callStateless(exchange, target, limit, request, verdictSink(resolve));
  });
}

/** Takes what comes of `discoverRequest`, for the one who wants to know whether the server speaks the revision. */
export function verdictSink(onVerdict: (verdict: EraVerdict) => void): CallSink {
  return {
    onMessage: () => true,
    onResponse: (response) => onVerdict(namesRevision(response)),
    onFailure: (failure) => onVerdict(verdictOf(failure)),
  };
}

/** A server says it in its result, or in the error that another version gets. */
function namesRevision({ text, result }: Message): boolean {
  const { supportedVersions, supported }: Versions =
    result === undefined ? (JSON.parse(text).error?.data ?? {}) : JSON.parse(textAt(text, result));
  const versions = supportedVersions ?? supported;
  return Array.isArray(versions) && versions.includes(STATELESS_REVISION);
}

interface Versions {
  readonly supportedVersions?: unknown;
  readonly supported?: unknown;
}

/**
 * A refusal that is no JSON-RPC is one of an older server, and one that wants credentials is for the client to read. All else
 * says nothing: a request that is sent on may reach a server of another era, once that is there.
 */
function verdictOf(failure: TargetFailure): EraVerdict {
  const { kind, status = 500 } = failure;
  if (kind === "protocol") return false;
  return kind === "status" && status < 500 ? undefined : failure;
}
