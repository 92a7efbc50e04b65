import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { SpanAttribute } from "../ir/tracing.ts";
import type { NamedField } from "./access-log.ts";
import type { CollectorConfig } from "./collector.ts";

/** What one place of the configuration says of tracing; both front ends make this of theirs. */
export interface TracingConfig {
  readonly collector: CollectorConfig;
  /** Of requests without a trace; undefined: none of them is traced. */
  readonly randomSampling: ExpressionConfig | undefined;
  /** Of requests whose sender records their trace; undefined: all of them are. */
  readonly clientSampling: ExpressionConfig | undefined;
  /** Names of attributes that are left out. */
  readonly remove: readonly NamedField[];
  /** Attributes beside the default ones, or in their place. */
  readonly add: readonly (NamedField & ExpressionConfig)[];
  /** What the gateway says of itself. */
  readonly resources: readonly (NamedField & ExpressionConfig)[];
  readonly origin: Origin;
}

/** The attributes that every span of a request may have, in their order. */
export const SPAN_ATTRIBUTES: readonly SpanAttribute[] = [
  ...([
    "http.request.method",
    "http.request.method_original",
    "url.scheme",
    "url.path",
    "server.address",
    "http.route",
  ] as const),
  ...(["http.response.status_code", "client.address", "network.protocol.version"] as const),
  ...(["user_agent.original", "listener", "route", "endpoint", "reason"] as const),
];

/** The attributes that say the same as a field of access lines of another name. */
export const SAME_IN_LOG: Readonly<Record<string, SpanAttribute>> = {
  "http.method": "http.request.method",
  "http.host": "server.address",
  "http.path": "url.path",
  "http.status": "http.response.status_code",
  "http.version": "network.protocol.version",
  "src.addr": "client.address",
};
