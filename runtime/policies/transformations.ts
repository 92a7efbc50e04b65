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
 * Changes the request that goes upstream; what rules and routes see of it besides headers stays. False: it was refused, as its
 * line would not be valid. The client's own must not go on where another one is wanted.
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

/** Before routing: changes the request as if the client had sent it so. False: it was refused, as above. */
export function transformBeforeRouting(exchange: Exchange, changes: RequestChanges): boolean {
  const line = changedLine(changes);
  if (line === undefined) return refuseChanged(exchange);
  changeRequestHeaders(exchange, changes);
  exchange.reroute(line);
  if (!("body" in changes)) return true;
  const body = bodyBytes(changes.body);
  replaceBody(exchange, body);
  exchange.bufferedBody = body;
  return true;
}

/** Headers that are to be replaced never stay as their client sent them. */
function changeRequestHeaders(exchange: Exchange, changes: RequestChanges): void {
  if ("replace" in changes) exchange.replaceRequestHeaders(replacedHeaders(changes.replace) ?? []);
  changeHeaders(editedRequest(exchange), changes);
}

function refuseChanged(exchange: Exchange): false {
  refuse(exchange, 400, "BadRequest", "no valid request can be made of it");
  return false;
}

function replaceBody(exchange: Exchange, body: Uint8Array): void {
  exchange.removeRequestHeader("content-encoding");
  exchange.setRequestBody(body);
}

/** Adds values to what later expressions read as `metadata`; undefined ones, failures, are left out. */
export function addMetadata({ attributes }: Exchange, values: JsonObject): void {
  attributes.metadata = Object.assign(
    Object.create(null),
    attributes.metadata,
    plainValues(values),
  );
}

/** Changes the head of whatever response this exchange gets; its body may be replaced, and is not read. */
export function transformResponse(exchange: Exchange, transform: ResponseTransform): void {
  exchange.interceptResponse((next) => new HeadFilter(exchange, next, transform));
}

/**
 * The same for expressions that read `response.body`: the response is held until all of it is there. Beyond `limit` bytes,
 * also decoded ones, it is a 502.
 */
export function transformWholeResponse(
  exchange: Exchange,
  transform: ResponseTransform,
  limit: number,
): void {
  // Text can be read only as it is; an upstream that compresses all the same is decoded.
  exchange.removeRequestHeader("accept-encoding");
  exchange.interceptResponse((next) => new WholeFilter(exchange, next, transform, limit));
}
