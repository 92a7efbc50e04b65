import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { LineField } from "../ir/access-log.ts";
import type { CollectorConfig } from "./collector.ts";
import type { MessageCaptureConfig } from "./message-capture.ts";

/** Access log settings of one place in the configuration, from files or manifests. */
export interface AccessLogConfig {
  /** Collector that receives a record of each line; `undefined` if there is none. */
  readonly collector: CollectorConfig | undefined;
  /** Settings of the collector's records that differ from those of lines. */
  readonly records?: RecordsConfig;
  /** Requests that are logged; `undefined` for all. */
  readonly filter: ExpressionConfig | undefined;
  /** Fields that are removed from lines. */
  readonly remove: readonly NamedField[];
  /** Fields that are added or replace standard ones. */
  readonly add: readonly (NamedField & ExpressionConfig)[];
  readonly origin: Origin;
}

/** Exported requests and fields of records. */
export interface RecordsConfig {
  /** Requests that are exported; `undefined` for those that are logged. */
  readonly filter: ExpressionConfig | undefined;
  /** Fields instead of those of lines; `undefined` for the same fields. */
  readonly fields: Pick<AccessLogConfig, "remove" | "add" | "origin"> | undefined;
  /** Messages of calls to models; `undefined` if they are not exported. */
  readonly capture: MessageCaptureConfig | undefined;
}

/** A field of a line and the place where the configuration names it. */
export interface NamedField {
  readonly name: string;
  readonly origin: Origin;
}

/** Fields that every line may have, in order. */
export const LINE_FIELDS: readonly LineField[] = [
  ...(["listener", "route", "endpoint", "src.addr", "user", "http.method"] as const),
  ...(["http.host", "http.path", "http.version", "http.status", "trace.id", "span.id"] as const),
  ...(["reason", "duration"] as const),
];

/** Fields that lines only have if the gateway is traced. */
export const TRACE_FIELDS: readonly LineField[] = ["trace.id", "span.id"];

/** Fields that policies and backends add to some requests. */
export const OTHER_FIELDS: readonly string[] = [
  ...["keys.action", "keys.name"],
  ...["gateway", "route_rule", "grpc.status", "tls.sni", "jwt.sub"],
  ...["protocol", "a2a.method", "mcp.method.name", "mcp.target", "mcp.resource.type"],
  ...[
    "mcp.resource.uri",
    "mcp.session.id",
    "mcp.batch.size",
    "gen_ai.tool.name",
    "gen_ai.prompt.name",
  ],
  ...["inferencepool.selected_endpoint", "gen_ai.operation.name", "gen_ai.provider.name"],
  ...["gen_ai.request.model", "gen_ai.response.model", "gen_ai.usage.input_tokens"],
  ...["gen_ai.usage.output_tokens", "gen_ai.request.temperature", "gen_ai.request.top_p"],
  ...["gen_ai.request.max_tokens", "gen_ai.request.frequency_penalty"],
  ...["gen_ai.request.presence_penalty", "gen_ai.request.seed"],
  ...["gen_ai.request.encoding_formats", "gen_ai.embeddings.dimension.count"],
  ...["gen_ai.response.id", "gen_ai.response.finish_reasons", "error.type"],
  ...["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens"],
  ...["gen_ai.usage.reasoning.output_tokens", "gen_ai.cost"],
  ...["llm.cache", "llm.cache.age", "llm.cache.score", "llm.cost.saved"],
  ...["llm.dropped", "llm.response.dropped", "llm.warning", "custom.policy"],
  ...["request.id", "retry.attempt", "error", "bytes.received", "bytes.sent"],
  ...["rule", "limit", "extAuthz.duration", "remoteRateLimit.duration", "extProc.duration"],
  ...["promptGuard.duration", "guard.request", "guard.request.matches", "guard.response"],
  ...["guard.response.matches", "connection", "connection.event", "mcp.era", "mcp.target.era"],
  ...["oauth.client.event", "oauth.client.name", "oauth.client.redirect"],
];

/** Reserved fields that every JSON line has. */
export const OWN_FIELDS: ReadonlySet<string> = new Set(["level", "time", "scope", "duration_ms"]);
