import type { JsonObject } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { changedLine } from "./transformations/changed-line.ts";
import { fieldValue } from "./transformations/field-value.ts";
import {
  bodyBytes,
  type RequestChanges,
  type ResponseTransform,
} from "./transformations/message-changes.ts";
import { plainValues } from "./transformations/plain-values.ts";
import { replacedHeaders } from "./transformations/replaced-headers.ts";
import { HeadFilter, WholeFilter } from "./transformations/transformed-response.ts";

/** Changes the request that goes upstream; what rules and routes see of it besides headers stays. */
export function transformRequest(exchange: Exchange, changes: RequestChanges): void {
  changeHeaders(exchange, changes);
  const line = changedLine(changes);
  exchange.upstreamMethod = line.method ?? exchange.upstreamMethod;
  exchange.upstreamTarget = line.target ?? exchange.upstreamTarget;
  exchange.upstreamHost = line.host ?? exchange.upstreamHost;
  if (line.scheme !== undefined) exchange.reroute({ scheme: line.scheme });
  if ("body" in changes) replaceBody(exchange, bodyBytes(changes.body));
}

/** Before routing: changes the request as if the client had sent it so. */
export function transformBeforeRouting(exchange: Exchange, changes: RequestChanges): void {
  changeHeaders(exchange, changes);
  exchange.reroute(changedLine(changes));
  if (!("body" in changes)) return;
  const body = bodyBytes(changes.body);
  replaceBody(exchange, body);
  exchange.bufferedBody = body;
}

function changeHeaders(exchange: Exchange, { replace, add, set, remove }: RequestChanges): void {
  const replaced = replace === undefined ? undefined : replacedHeaders(replace);
  if (replaced !== undefined) exchange.replaceRequestHeaders(replaced);
  for (const [name, value] of add) {
    const text = fieldValue(value);
    if (text !== undefined) exchange.addRequestHeader(name, text);
  }
  for (const [name, value] of set) {
    const text = fieldValue(value);
    if (text === undefined) exchange.removeRequestHeader(name);
    else exchange.setRequestHeader(name, text);
  }
  for (const name of remove) exchange.removeRequestHeader(name);
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
