import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { LineField } from "../ir/access-log.ts";
import type { CollectorConfig } from "./collector.ts";

/** What one place of the configuration says of the access log; both front ends make this of theirs. */
export interface AccessLogConfig {
  /** Who gets a record of each line; undefined: nobody. */
  readonly collector: CollectorConfig | undefined;
  /** Undefined: every request has a line. */
  readonly filter: ExpressionConfig | undefined;
  /** Names of fields that are left out. */
  readonly remove: readonly NamedField[];
  /** Fields beside the usual ones, or in their place. */
  readonly add: readonly (NamedField & ExpressionConfig)[];
}

/** A field of a line and where the configuration names it. */
export interface NamedField {
  readonly name: string;
  readonly origin: Origin;
}

/** The fields that every line may have, in their order. */
export const LINE_FIELDS: readonly LineField[] = [
  ...(["listener", "route", "endpoint", "src.addr", "http.method", "http.host"] as const),
  ...(["http.path", "http.version", "http.status", "trace.id", "span.id"] as const),
  ...(["reason", "duration"] as const),
];

/** Those that only lines of a gateway with tracing have. */
export const TRACE_FIELDS: readonly LineField[] = ["trace.id", "span.id"];

/** Fields that only some requests have: policies and backends set them. */
export const OTHER_FIELDS: readonly string[] = [
  ...["gateway", "route_rule", "grpc.status", "tls.sni", "jwt.sub"],
  ...["protocol", "a2a.method", "mcp.method.name", "mcp.target", "mcp.resource.type"],
  ...["mcp.resource.uri", "mcp.session.id", "gen_ai.tool.name", "gen_ai.prompt.name"],
  ...["inferencepool.selected_endpoint", "gen_ai.operation.name", "gen_ai.provider.name"],
  ...["gen_ai.request.model", "gen_ai.response.model", "gen_ai.usage.input_tokens"],
  ...["gen_ai.usage.output_tokens", "gen_ai.request.temperature", "gen_ai.request.top_p"],
  ...["gen_ai.request.max_tokens", "gen_ai.request.frequency_penalty"],
  ...["gen_ai.request.presence_penalty", "gen_ai.request.seed"],
  ...["gen_ai.request.encoding_formats", "gen_ai.embeddings.dimension.count"],
  ...["gen_ai.response.id", "gen_ai.response.finish_reasons", "error.type"],
  ...["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens"],
  ...["gen_ai.usage.reasoning.output_tokens"],
  ...["request.id", "retry.attempt", "error", "bytes.received", "bytes.sent"],
  ...["rule", "limit", "extAuthz.duration", "remoteRateLimit.duration", "extProc.duration"],
  ...["promptGuard.duration", "guard.request", "guard.request.matches", "guard.response"],
  ...["guard.response.matches", "mcp.era", "mcp.target.era"],
];

/** What every line says of itself, in JSON by these names. */
export const OWN_FIELDS: ReadonlySet<string> = new Set(["level", "time", "scope"]);
