import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import type { ConnectionVerdict } from "../../net/connected-client.ts";
import type { RuleContext } from "../../net/connection-rules.ts";
import type { OnAbort } from "../../process/on-abort.ts";
import { countCallout } from "../../telemetry/callout.ts";
import { bodyBytes, type HeaderValue } from "../transformations/message-changes.ts";
import { targetValue } from "../transformations/target-value.ts";
import { checkHeaders } from "./check-headers.ts";
import { type AuthorizationVerdict, type NoVerdict, plainVerdict } from "./verdict.ts";
import { type Cached, cachedVerdict, type VerdictCache } from "./verdict-cache.ts";

/** A server that is asked over HTTP whether clients may connect. */
export interface ConnectionAuthorizer {
  readonly server: Upstream;
  /** Milliseconds. */
  readonly deadline: number;
  /** Whether clients may connect while the server gives no verdict. */
  readonly passesOnFailure: boolean;
  /** Absent if verdicts are not cached. */
  readonly cache?: VerdictCache;
  /** Place of the policy in the configuration, for the log. */
  readonly policy: string;
}

/** The values of expressions for a request about a connection. */
export interface ConnectionQuestion extends Cached {
  /** The path and query; absent for `/`. */
  readonly path?: unknown;
  /** Strings and bytes as they are, other values as JSON; empty if its expression failed. */
  readonly body?: unknown;
  /** Headers, `:authority` and `:method` (GET by default); failed values are omitted. */
  readonly headers?: readonly HeaderValue[];
}

/** Maximum number of bytes of a response, which are not used. */
const MAX_RESPONSE = 65_536;

/** Asks the server whether a client may connect: 2xx allows, 5xx and no response are failures, any other status denies. */
export async function authorizeConnection(
  authorizer: ConnectionAuthorizer,
  context: RuleContext,
  { key, lifetime, ...question }: ConnectionQuestion,
): Promise<ConnectionVerdict> {
  const { cache, policy, passesOnFailure, server } = authorizer;
  const { found, keep } = await cachedVerdict(
    cache,
    { key, lifetime },
    (onAbort) => ask(authorizer, context, question, onAbort),
    context.onAbort,
  );
  keep();
  const { isAllowed, detail } =
    found.kind === "none"
      ? { isAllowed: passesOnFailure, detail: `failed: ${found.detail}` }
      : { isAllowed: found.denial === undefined, detail: `denied: ${found.status}` };
  return { isAllowed, rule: `${policy}: ${server.name} ${detail}` };
}

async function ask(
  { server, deadline }: ConnectionAuthorizer,
  { metrics }: RuleContext,
  { path = "/", headers = [], ...made }: ConnectionQuestion,
  onAbort: OnAbort,
): Promise<AuthorizationVerdict | NoVerdict> {
  const target = targetValue(path);
  // Names in a client certificate must not turn into a failure that lets their owner in.
  if (target === undefined) return { ...plainVerdict, denial: "refusal", status: "invalid path" };
  const own = checkHeaders(headers);
  const request = {
    method: own.method ?? "GET",
    url: `${server.origin}${server.basePath}${target}`,
    authority: own.authority,
    headers: own.headers,
    ...("body" in made && { body: Buffer.from(bodyBytes(made.body)) }),
    server,
  };
  const started = performance.now();
  const count = (result: "ok" | "denied" | "failed" | "cancelled") =>
    countCallout(metrics, { kind: "networkExtAuthz", target: server.name, result, started });
  let isOver = false;
  onAbort(() => {
    if (!isOver) count("cancelled");
    isOver = true;
  });
  const limits = { maxBytes: MAX_RESPONSE, deadline, onAbort };
  const response = await fetchResponse(request, limits).catch((error: Error) => error.message);
  const status = typeof response === "string" ? 0 : response.status;
  const isVerdict = status >= 200 && status < 500;
  const isAllowed = isVerdict && status < 300;
  if (!isOver) count(isAllowed ? "ok" : isVerdict ? "denied" : "failed");
  isOver = true;
  const said = typeof response === "string" ? response : `status ${status}`;
  if (!isVerdict) return { kind: "none", detail: said };
  return { ...plainVerdict, denial: isAllowed ? undefined : "refusal", status: said };
}
