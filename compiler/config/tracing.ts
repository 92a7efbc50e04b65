import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { SpanAttribute } from "../ir/tracing.ts";
import type { NamedField } from "./access-log.ts";
import type { CollectorConfig, VariableCollectorConfig } from "./collector.ts";
import type { MessageCaptureConfig } from "./message-capture.ts";

/** Tracing settings of one place in the configuration, from files or manifests. */
export interface TracingConfig {
  readonly collector: CollectorConfig | VariableCollectorConfig;
  /** Sampling of requests without a trace; `undefined` if none is traced. */
  readonly randomSampling: ExpressionConfig | undefined;
  /** Sampling of requests whose sender records the trace; `undefined` if all are traced. */
  readonly clientSampling: ExpressionConfig | undefined;
  /** Which requests are exported; `undefined` for all that are sampled. */
  readonly filter: ExpressionConfig | undefined;
  /** Attributes that are removed. */
  readonly remove: readonly NamedField[];
  /** Attributes that are added or replace standard ones. */
  readonly add: readonly (NamedField & ExpressionConfig)[];
  /** Attributes of the gateway itself. */
  readonly resources: readonly (NamedField & ExpressionConfig)[];
  /** Messages of calls to models; absent if they are not exported. */
  readonly capture?: MessageCaptureConfig | undefined;
  readonly origin: Origin;
}

/** Attributes that every span of a request may have, in order. */
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

/** Attributes by the names of the corresponding access log fields. */
export const SAME_IN_LOG: Readonly<Record<string, SpanAttribute>> = {
  "http.method": "http.request.method",
  "http.host": "server.address",
  "http.path": "url.path",
  "http.status": "http.response.status_code",
  "http.version": "network.protocol.version",
  "src.addr": "client.address",
};
