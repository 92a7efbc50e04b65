import type { Exchange, ExchangeRecord } from "../../http/exchange.ts";
import type { FieldWriter } from "../field-writer.ts";

/** Writes the attributes of a request's span. `route`: the path pattern of its route; `undefined` if it has none. */
export type SpanAttributes = (
  span: FieldWriter,
  request: Exchange,
  status: number | undefined,
  route: string | undefined,
) => void;

/** Writes the default attributes, by OpenTelemetry's conventions for HTTP servers. Generated functions use the same order. */
export function defaultAttributes(
  span: FieldWriter,
  request: Exchange,
  status: number | undefined,
  route: string | undefined,
): void {
  const { record, original } = request;
  span.text("http.request.method", methodName(original.method));
  span.text("http.request.method_original", otherMethod(original.method));
  span.text("url.scheme", original.scheme);
  span.text("url.path", original.path);
  span.text("server.address", request.hostname || undefined);
  span.text("http.route", route);
  span.number("http.response.status_code", status);
  span.plain("client.address", request.remoteAddress);
  span.plain("network.protocol.version", protocolVersion(request.version));
  span.text("user_agent.original", request.header("user-agent"));
  span.text("listener", record.listener);
  span.text("route", record.route);
  span.text("endpoint", record.upstream);
  spanFields(span, record);
  span.text("reason", record.reason);
}

const methods: ReadonlyMap<string, string> = new Map(
  ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"].map((method) => [
    method,
    method,
  ]),
);

/**
 * Returns the method, or `_OTHER` for an unknown one. Returns the same string object for all requests, which makes later
 * lookups faster.
 */
export function methodName(method: string): string {
  return methods.get(method) ?? "_OTHER";
}

/** Returns the method if it is unknown. */
export function otherMethod(method: string): string | undefined {
  return methods.has(method) ? undefined : method;
}

/** Returns the method for span names; unknown methods share one name, as clients could invent any number. */
export function methodInName(method: string): string {
  return methods.get(method) ?? "HTTP";
}

/** Returns `1.1` for `HTTP/1.1`. */
export function protocolVersion(version: string): string {
  return version.slice("HTTP/".length);
}

/** Writes the fields that policies and backends have set. */
export function spanFields(span: FieldWriter, { fields }: ExchangeRecord): void {
  if (fields === undefined) return;
  const { list } = fields;
  for (let i = 0; i < list.length; i += 2) add(span, list[i] ?? "", list[i + 1] ?? "");
}

/** Writes the same fields except some. */
export function spanFieldsExcept(
  span: FieldWriter,
  { fields }: ExchangeRecord,
  names: ReadonlySet<string>,
): void {
  if (fields === undefined) return;
  for (const [name, value] of fields.entries()) if (!names.has(name)) add(span, name, value);
}

function add(span: FieldWriter, name: string, value: string): void {
  if (isNumber(name)) span.number(name, Number(value));
  else if (name === "gen_ai.response.finish_reasons") span.json(name, JSON.stringify([value]));
  else span.text(name, value);
}

/** Whether an attribute of generative AI is a number. */
function isNumber(name: string): boolean {
  return name.startsWith("gen_ai.usage.") || NUMBERS.has(name);
}

const NUMBERS: ReadonlySet<string> = new Set([
  "gen_ai.request.temperature",
  "gen_ai.request.top_p",
  "gen_ai.request.max_tokens",
  "gen_ai.request.frequency_penalty",
  "gen_ai.request.presence_penalty",
  "gen_ai.request.seed",
  "gen_ai.embeddings.dimension.count",
  "gen_ai.cost",
]);
