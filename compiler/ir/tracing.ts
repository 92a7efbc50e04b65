import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { AddedField } from "./access-log.ts";
import type { CollectorNode, VariableCollectorNode } from "./collector.ts";
import type { MessageCaptureNode } from "./message-capture.ts";
import type { SamplingNode } from "./sampling.ts";

/** Traced requests, attributes of their spans, and the collector. */
export interface TracingNode {
  readonly collector: CollectorNode | VariableCollectorNode;
  /** Sampling of requests without a trace; `undefined` if none is traced. */
  readonly randomSampling: SamplingNode | undefined;
  /** Sampling of requests whose sender records the trace; `undefined` if all are traced. */
  readonly clientSampling: SamplingNode | undefined;
  /** Which requests are exported, decided at their end; `undefined` for all that are sampled. */
  readonly filter: SpanFilterNode | undefined;
  /** `undefined` for the default attributes. */
  readonly attributes: SpanAttributesNode | undefined;
  readonly resources: ResourcesNode | undefined;
  /** Messages of calls to models in spans; absent if there are none. */
  readonly messages?: MessageCaptureNode;
  readonly origin: Origin;
}

/** Condition under which the spans of a request are exported. */
export interface SpanFilterNode {
  readonly value: CompiledExpression;
  readonly origin: Origin;
}

/** Attributes of the spans of requests. */
export interface SpanAttributesNode {
  /** Default attributes of every request that are not removed, in order. */
  readonly defaults: readonly SpanAttribute[];
  /** Names of removed attributes among those that policies and backends add. */
  readonly without: readonly string[];
  readonly added: readonly AddedField[];
  readonly origin: Origin;
}

/** Attributes of the gateway itself. */
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
