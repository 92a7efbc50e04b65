import type { Exchange } from "../../http/exchange.ts";
import { metaKey, withParams } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { CallSink, StreamableHttpTarget } from "../transports/target.ts";
import type { EraVerdict } from "../transports/target-era.ts";
import { callStateless } from "./stateless-call.ts";

/** Builds a `server/discover` request of the gateway. `id` is JSON text. */
export function discoverRequest(id: string): Message {
  const message = ownMessage(`{"jsonrpc":"2.0","id":${id},"method":"server/discover"}`);
  return withParams(message, {
    [metaKey.protocolVersion]: JSON.stringify(STATELESS_REVISION),
    [metaKey.clientCapabilities]: "{}",
    [metaKey.clientInfo]: '{"name":"gwc","version":"1"}',
  });
}

/** Probes whether an HTTP target speaks the stateless revision, with the credentials of the client. */
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

/** Returns a sink that converts the outcome of `discoverRequest` to a verdict on the server's era. */
export function verdictSink(onVerdict: (verdict: EraVerdict) => void): CallSink {
  return {
    onMessage: () => true,
    onResponse: (response) => onVerdict(namesRevision(response)),
    onFailure: (failure) => onVerdict(verdictOf(failure)),
  };
}

/** Whether a server supports the revision, from its result or from its error for another version. */
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
 * Returns the verdict for a failure. A response that is not JSON-RPC comes from an older server; a refusal that requires
 * credentials is left to the client. Any other failure decides nothing: the next request may reach a server of another era.
 */
function verdictOf(failure: TargetFailure): EraVerdict {
  const { kind, status = 500 } = failure;
  if (kind === "protocol") return false;
  return kind === "status" && status < 500 ? undefined : failure;
}
