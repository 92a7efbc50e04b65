import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { AddedField } from "./access-log.ts";
import type { CollectorNode } from "./collector.ts";

/** Which requests are traced, what their spans say, and where they go. */
export interface TracingNode {
  readonly collector: CollectorNode;
  /** Undefined: no request without a trace is traced. */
  readonly randomSampling: SamplingNode | undefined;
  /** Undefined: every request whose sender records its trace is traced. */
  readonly clientSampling: SamplingNode | undefined;
  /** Undefined: the default attributes. */
  readonly attributes: SpanAttributesNode | undefined;
  readonly resources: ResourcesNode | undefined;
  readonly origin: Origin;
}

/** How many requests are traced. */
export interface SamplingNode {
  readonly value: CompiledExpression;
  readonly origin: Origin;
}

/** The attributes of the spans of requests. */
export interface SpanAttributesNode {
  /** Those of every request that stay, in their order. */
  readonly defaults: readonly SpanAttribute[];
  /** Names that are left out of what policies and backends add. */
  readonly without: readonly string[];
  readonly added: readonly AddedField[];
  readonly origin: Origin;
}

/** What the gateway says of itself. */
export interface ResourcesNode {
  readonly added: readonly AddedField[];
  readonly origin: Origin;
}

/** An attribute that every span of a request may have. */
export type SpanAttribute =
  | "http.request.method"
  | "http.request.method_original"
  | "url.scheme"
  | "url.path"
  | "server.address"
  | "http.route"
  | "http.response.status_code"
  | "client.address"
  | "network.protocol.version"
  | "user_agent.original"
  | "listener"
  | "route"
  | "endpoint"
  | "reason";
