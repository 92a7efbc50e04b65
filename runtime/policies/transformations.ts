import type { JsonObject } from "../cel/variables.ts";
import { editedRequest } from "../http/edited-exchange.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { changeHeaders } from "./transformations/changed-headers.ts";
import { changedLine } from "./transformations/changed-line.ts";
import {
  bodyBytes,
  type RequestChanges,
  type ResponseTransform,
} from "./transformations/message-changes.ts";
import { plainValues } from "./transformations/plain-values.ts";
import { replacedHeaders } from "./transformations/replaced-headers.ts";
import { HeadFilter, WholeFilter } from "./transformations/transformed-response.ts";

/**
 * Changes the request to the upstream. Apart from headers and the body, rules still see the original request. Returns false
 * if the request was refused because its changed line is invalid; the client's original one must not be forwarded instead.
 */
export function transformRequest(exchange: Exchange, changes: RequestChanges): boolean {
  const line = changedLine(changes);
  if (line === undefined) return refuseChanged(exchange);
  changeRequestHeaders(exchange, changes);
  exchange.upstreamMethod = line.method ?? exchange.upstreamMethod;
  exchange.upstreamTarget = line.target ?? exchange.upstreamTarget;
  exchange.upstreamHost = line.host ?? exchange.upstreamHost;
  if (line.scheme !== undefined) exchange.reroute({ scheme: line.scheme });
  if ("body" in changes) replaceBody(exchange, bodyBytes(changes.body));
  return true;
}

/**
 * Changes the request before routing, as if the client had sent it that way. Returns false if the request was refused
 * because its changed line is invalid.
 */
export function transformBeforeRouting(exchange: Exchange, changes: RequestChanges): boolean {
  const line = changedLine(changes);
  if (line === undefined) return refuseChanged(exchange);
  changeRequestHeaders(exchange, changes);
  exchange.reroute(line);
  if ("body" in changes) replaceBody(exchange, bodyBytes(changes.body));
  return true;
}

/** If replacing the headers fails, they are removed: the client's own must not be forwarded. */
function changeRequestHeaders(exchange: Exchange, changes: RequestChanges): void {
  if ("replace" in changes) exchange.replaceRequestHeaders(replacedHeaders(changes.replace) ?? []);
  changeHeaders(editedRequest(exchange), changes);
}

function refuseChanged(exchange: Exchange): false {
  refuse(exchange, 400, "BadRequest", "the changed request is invalid");
  return false;
}

/** Replaces the body, also for endpoints that read a buffered one themselves, such as those of models. */
function replaceBody(exchange: Exchange, body: Uint8Array): void {
  exchange.removeRequestHeader("content-encoding");
  exchange.setRequestBody(body);
  if (exchange.bufferedBody !== undefined) exchange.bufferedBody = body;
}

/** Adds values for later expressions under `metadata`; `undefined` ones, which failed, are omitted. */
export function addMetadata({ attributes }: Exchange, values: JsonObject): void {
  attributes.metadata = Object.assign(
    Object.create(null),
    attributes.metadata,
    plainValues(values),
  );
}

/** Changes the head of the response to the client; its body may be replaced but is not read. */
export function transformResponse(exchange: Exchange, transform: ResponseTransform): void {
  exchange.interceptResponse((next) => new HeadFilter(exchange, next, transform));
}

/**
 * Does the same for expressions that read `response.body`: the response is buffered. If it exceeds `limit` bytes, also
 * decoded, the client gets a 502.
 */
export function transformWholeResponse(
  exchange: Exchange,
  transform: ResponseTransform,
  limit: number,
): void {
  // Expressions need the uncompressed body; it is decoded if the upstream compresses anyway.
  exchange.removeRequestHeader("accept-encoding");
  exchange.interceptResponse((next) => new WholeFilter(exchange, next, transform, limit));
}
