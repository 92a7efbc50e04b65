import type { JsonObject, ResponseVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import type { OnAbort } from "../../process/on-abort.ts";
import { MiB } from "../../process/units.ts";
import { Callout } from "../../telemetry/callout.ts";
import { isSettable } from "../envoy/header-edits.ts";
import { fieldValue } from "../transformations/field-value.ts";
import { bodyBytes, type HeaderValue } from "../transformations/message-changes.ts";
import { plainValues } from "../transformations/plain-values.ts";
import { targetValue } from "../transformations/target-value.ts";
import { checkHeaders } from "./check-headers.ts";
import { type ForwardedBody, PARTIAL_BODY_HEADER } from "./forwarded-body.ts";
import { type AuthorizationVerdict, type NoVerdict, plainVerdict } from "./verdict.ts";

/** Maximum number of bytes of an authorization server's response. */
const MAX_RESPONSE = 4 * MiB;

/** An authorization server that is called over plain HTTP. */
export interface HttpAuthorizationServer {
  readonly server: Upstream;
  /** Milliseconds. */
  readonly deadline: number;
  /** Lower-case names of the request headers that it receives. */
  readonly requestHeaders: readonly string[];
  /**
   * Lower-case names of its response headers that the backend receives; the client's own values are removed. `all`: every
   * header that does not describe the response's body.
   */
  readonly responseHeaders: readonly string[] | "all";
}

/** The values of expressions for a request to such a server. */
export interface HttpQuestion {
  /** The path and query; absent for those of the request. */
  readonly path?: unknown;
  /** Replaces the client's body: strings and bytes as they are, other values as JSON; empty if its expression failed. */
  readonly body?: unknown;
  /** Headers that replace the client's, and `:authority`; failed values are omitted. */
  readonly headers?: readonly HeaderValue[];
  /** Returns the redirect target of a client that is refused with 401 or 403. */
  readonly redirect?: () => unknown;
  /** Returns the values for later expressions under `extauthz`. */
  readonly metadata?: (response: ResponseVariables) => JsonObject;
}

/**
 * Asks a server by a request with the same method. 2xx allows, any other status is forwarded to the client as its response,
 * except 5xx, which is a failure.
 */
export async function askOverHttp(
  exchange: Exchange,
  { server, deadline, requestHeaders, responseHeaders }: HttpAuthorizationServer,
  { path, headers = [], redirect, metadata, ...made }: HttpQuestion,
  forwarded: ForwardedBody | undefined,
  onAbort: OnAbort,
): Promise<AuthorizationVerdict | NoVerdict> {
  const target = path === undefined ? exchange.target : targetValue(path);
  if (target === undefined)
    return { kind: "none", detail: "the path is not a valid request target" };
  const own = checkHeaders(headers);
  const body = "body" in made ? bodyBytes(made.body) : forwarded?.bytes;
  // The server may use the first of two headers, so the client's values must not precede the gateway's.
  const ownNames = new Set(headers.map(([name]) => name.toLowerCase()));
  const sentNames = requestHeaders.filter((name) => !ownNames.has(name));
  const request = {
    // The server decides about a tunnel; it does not open one.
    method: own.method ?? (exchange.isTunnel ? "GET" : exchange.method),
    url: `${server.origin}${server.basePath}${target}`,
    authority: own.authority,
    headers: [...sentHeaders(exchange, sentNames), ...own.headers, ...part(forwarded)],
    ...(body !== undefined && { body: Buffer.from(body) }),
    server,
  };
  const callout = new Callout(exchange, "extAuthz", server.name, request.method);
  callout.cancelWith(onAbort);
  const limits = { maxBytes: MAX_RESPONSE, deadline, onAbort: callout.onAbort.bind(callout) };
  const response = await fetchResponse({ ...request, span: callout.span }, limits).catch(
    (error: Error): NoVerdict => ({ kind: "none", detail: error.message }),
  );
  if ("kind" in response) {
    callout.end("failed", "no_response");
    return response;
  }
  const { status } = response;
  if (status >= 500 || status < 200) {
    callout.end("failed");
    return { kind: "none", detail: `status ${status}` };
  }
  callout.end(status < 300 ? "ok" : "denied");
  const seen = new ReceivedResponse(status, response.headers);
  seen.bufferedBody = response.body;
  const said = { status: `status ${status}`, metadata: metadata && plainValues(metadata(seen)) };
  const verdict = { ...plainVerdict, ...said };
  const list = endToEnd(response.headers, "");
  if (status < 300) {
    const passed = new ReceivedResponse(status, list);
    return { ...verdict, ...takenHeaders(passed, responseHeaders) };
  }
  const location = status === 401 || status === 403 ? redirectTarget(redirect?.()) : undefined;
  if (location !== undefined) {
    return { ...verdict, denial: { status: 302, headers: ["location", location], body: "" } };
  }
  return { ...verdict, denial: { status, headers: list, body: response.body } };
}

function sentHeaders({ requestHeaders: sent }: Exchange, wanted: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < sent.length; i += 2) {
    const name = (sent[i] ?? "").toLowerCase();
    if (wanted.includes(name) && isSettable(name)) kept.push(name, sent[i + 1] ?? "");
  }
  return kept;
}

function part(body: ForwardedBody | undefined): string[] {
  return body === undefined ? [] : [PARTIAL_BODY_HEADER, String(body.isPart)];
}

/** Returns the server's headers, and the names of absent ones for removal: a client could impersonate somebody with them. */
function takenHeaders(
  response: ReceivedResponse,
  names: readonly string[] | "all",
): Pick<AuthorizationVerdict, "removed" | "headers"> {
  const known = (names === "all" ? receivedNames(response) : names).filter(isSettable);
  const headers = known.flatMap((name) => {
    const value = response.header(name);
    return value === undefined ? [] : [{ name, value, action: "overwrite" as const }];
  });
  return { removed: known.filter((name) => response.header(name) === undefined), headers };
}

function receivedNames({ headers }: ReceivedResponse): readonly string[] {
  const names = headers.filter((_, index) => index % 2 === 0).map((each) => each.toLowerCase());
  return [...new Set(names)].filter((name) => !name.startsWith("content-"));
}

function redirectTarget(value: unknown): string | undefined {
  return value === undefined ? undefined : fieldValue(value);
}
