import type { JsonObject, ResponseVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import { canonicalHost } from "../../http/request-line.ts";
import type { FetchRequest } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import type { OnAbort } from "../../process/on-abort.ts";
import { MiB } from "../../process/units.ts";
import { Callout } from "../../telemetry/callout.ts";
import { isSettable } from "../envoy/header-edits.ts";
import { fieldValue } from "../transformations/field-value.ts";
import type { HeaderValue } from "../transformations/message-changes.ts";
import { plainValues } from "../transformations/plain-values.ts";
import { targetValue } from "../transformations/target-value.ts";
import { type ForwardedBody, PARTIAL_BODY_HEADER } from "./forwarded-body.ts";
import { type AuthorizationVerdict, type NoVerdict, plainVerdict } from "./verdict.ts";

/** The longest response of an authorization server. */
const MAX_RESPONSE = 4 * MiB;

/** A server that is asked by plain HTTP. */
export interface HttpAuthorizationServer {
  readonly server: Upstream;
  /** Milliseconds. */
  readonly deadline: number;
  /** Lower-case names of the request's headers that it gets. */
  readonly requestHeaders: readonly string[];
  /**
   * Lower-case names of its headers that the backend gets: none of them comes from the client. `all`: whichever it sends
   * that do not describe its own body.
   */
  readonly responseHeaders: readonly string[] | "all";
}

/** What expressions make of a request for such a server. */
export interface HttpQuestion {
  /** The path and query; absent: those of the request. */
  readonly path?: unknown;
  /** Headers in the place of the client's, and `:authority`; one that failed is left out. */
  readonly headers?: readonly HeaderValue[];
  /** Where a client goes that got 401 or 403. */
  readonly redirect?: () => unknown;
  /** What later expressions read as `extauthz`. */
  readonly metadata?: (response: ResponseVariables) => JsonObject;
}

/** Asks a server by a request of the same method: 2xx allows, and any other response is the client's; 5xx is a failure. */
export async function askOverHttp(
  exchange: Exchange,
  { server, deadline, requestHeaders, responseHeaders }: HttpAuthorizationServer,
  { path, headers = [], redirect, metadata }: HttpQuestion,
  body: ForwardedBody | undefined,
  onAbort: OnAbort,
): Promise<AuthorizationVerdict | NoVerdict> {
  const target = path === undefined ? exchange.target : targetValue(path);
  if (target === undefined) return { kind: "none", detail: "the path is no request target" };
  const made = madeHeaders(headers);
  // A server may take the first of two: what the gateway says must not stand behind what the client made up.
  const ownNames = new Set(headers.map(([name]) => name.toLowerCase()));
  const sentNames = requestHeaders.filter((name) => !ownNames.has(name));
  const request = {
    // A tunnel is asked about, not asked for.
    method: exchange.isTunnel ? "GET" : exchange.method,
    url: `${server.origin}${server.basePath}${target}`,
    authority: made.authority,
    headers: [...sentHeaders(exchange, sentNames), ...made.headers, ...part(body)],
    ...(body !== undefined && { body: Buffer.from(body.bytes) }),
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

/** What expressions say of the request; an authority that is no host and port is left out like a value that failed. */
function madeHeaders(made: readonly HeaderValue[]): Pick<FetchRequest, "authority" | "headers"> {
  let authority: string | undefined;
  const headers = made.flatMap(([name, value]) => {
    const text = fieldValue(value);
    if (name !== ":authority") return text === undefined ? [] : [name, text];
    authority = text === undefined ? undefined : canonicalHost(text.toLowerCase());
    return [];
  });
  return { authority, headers };
}

function part(body: ForwardedBody | undefined): string[] {
  return body === undefined ? [] : [PARTIAL_BODY_HEADER, String(body.isPart)];
}

/** The server's headers, and those that it does not have: a client could name itself in them. */
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
