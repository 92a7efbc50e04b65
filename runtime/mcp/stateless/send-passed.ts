import { isBodySource } from "../../http/body/body.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { CallSpan } from "../../http/exchange-trace.ts";
import { HeaderNames, withoutLines } from "../../http/headers/header-lines.ts";
import { sendInSpan, sendLinesInSpan, tracedLines } from "../../http/upstream/traced-request.ts";
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import type { Credentials, StreamableHttpTarget } from "../transports/target.ts";
import {
  headersForTarget,
  hostForTarget,
  WITHHELD_HEADERS,
} from "../transports/upstream-headers.ts";

/** A client's request of revision 2026-07-28 that is forwarded to a target unchanged. */
export interface PassedRequest {
  readonly exchange: Exchange;
  readonly target: StreamableHttpTarget;
  readonly body: UpstreamCall["body"];
  /** The span of the call; `undefined` if the client's request is not traced. */
  readonly span: CallSpan | undefined;
  /** Whether the response may be compressed, because the gateway does not read it. */
  readonly mayBeCoded: boolean;
}

/** Forwards a client's request, with its own header lines if possible. */
export function sendPassed(request: PassedRequest, handler: UpstreamHandler): UpstreamRequest {
  return sendLines(request, handler) ?? sendList(request, handler);
}

/** Returns `undefined` if the request's header lines cannot be forwarded. */
function sendLines(request: PassedRequest, handler: UpstreamHandler): UpstreamRequest | undefined {
  const { exchange, body, span, mayBeCoded } = request;
  const { upstream, credentials } = request.target;
  const { requestLines } = exchange;
  if (upstream.sendLines === undefined || requestLines === undefined) return undefined;
  if (exchange.header("accept") !== ACCEPTED || exchange.header("content-type") !== json) {
    return undefined;
  }
  if (isBodySource(body) && body.length === undefined) return undefined;
  const names = mayBeCoded ? withheldLines[credentials] : withheldLinesAndCodings[credentials];
  const host = hostForTarget(exchange, upstream);
  const kept = withoutLines(requestLines, names);
  const sent = span === undefined ? kept : tracedLines(exchange, kept, span);
  const call = { method: "POST", path: upstream.path, lines: `${sent}host: ${host}\r\n`, body };
  return sendLinesInSpan(span, upstream, upstream.sendLines, call, handler);
}

function sendList(request: PassedRequest, handler: UpstreamHandler): UpstreamRequest {
  const { exchange, target, body, span, mayBeCoded } = request;
  const headers = headersForTarget(exchange, target);
  headers.push("accept", ACCEPTED, "content-type", json);
  headers.push("mcp-protocol-version", STATELESS_REVISION);
  for (const name of mayBeCoded ? [...CLAIMS, "accept-encoding"] : CLAIMS) {
    const value = exchange.header(name);
    if (value !== undefined) headers.push(name, value);
  }
  const call = { method: "POST", path: target.upstream.path, headers, body };
  return sendInSpan(span, target.upstream, call, handler);
}

const ACCEPTED = "application/json, text/event-stream";
const json = "application/json";

/** The headers that describe a client's message. */
const CLAIMS = ["mcp-method", "mcp-name"] as const;

/** Headers that are forwarded as received: they were compared with the ones that the gateway would send. */
const CHECKED = ["accept", "content-type", "mcp-protocol-version", ...CLAIMS];

const withheldLines = linesWithout([...CHECKED, "accept-encoding"]);
const withheldLinesAndCodings = linesWithout(CHECKED);

/** Returns the names of the withheld lines without `kept`. */
function linesWithout(kept: readonly string[]): Readonly<Record<Credentials, HeaderNames>> {
  const namesOf = (credentials: Credentials) =>
    new HeaderNames([...WITHHELD_HEADERS[credentials]].filter((name) => !kept.includes(name)));
  return { forward: namesOf("forward"), token: namesOf("token"), withhold: namesOf("withhold") };
}
