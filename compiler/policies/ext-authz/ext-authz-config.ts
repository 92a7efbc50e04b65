import type { BodyForwarding } from "../../../runtime/policies/ext-authz/forwarded-body.ts";
import type { CalloutTarget } from "../../backends/parts/callout-target.ts";
import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import type { NamedNode } from "../../backends/parts/named-expressions.ts";
import type { TimeSpanConfig } from "../../backends/parts/time-span.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";

/** Header names, as configured. */
export interface NamedHeaders {
  readonly names: readonly string[];
  /** Location of the list. */
  readonly origin: Origin;
}

/** An authorization server and the requests to it, as configured. */
export interface AuthorizationConfig {
  readonly server: DestinationConfig;
  readonly protocol: GrpcProtocolConfig | HttpProtocolConfig;
  /** Status of a request for which there is no verdict, or `allow`. */
  readonly failure: number | "allow";
  /** `undefined` for the default of the protocol. */
  readonly requestHeaders: NamedHeaders | undefined;
  readonly body: BodyForwarding | undefined;
  readonly cache: VerdictCacheConfig | undefined;
  readonly origin: Origin;
}

/** Authorization by gRPC, as configured. */
export interface GrpcProtocolConfig {
  readonly kind: "grpc";
  readonly contextExtensions: Readonly<Record<string, string>>;
  /** `undefined` for the claims of the token. */
  readonly metadata: readonly NamedExpression[] | undefined;
}

/** Authorization by plain HTTP, as configured. */
export interface HttpProtocolConfig {
  readonly kind: "http";
  readonly path: ExpressionConfig | undefined;
  readonly redirect: ExpressionConfig | undefined;
  /** Replaces the request's body. */
  readonly body: ExpressionConfig | undefined;
  /** Request headers that are sent in addition to the configured ones. */
  readonly alwaysSent: readonly string[];
  /** `all` for every header that the server sends. */
  readonly responseHeaders: NamedHeaders | "all" | undefined;
  readonly addHeaders: readonly NamedExpression[];
  readonly metadata: readonly NamedExpression[];
}

/** The verdict cache, as configured. */
export interface VerdictCacheConfig {
  readonly key: readonly ExpressionConfig[];
  readonly ttl: TimeSpanConfig;
  readonly maxEntries: number;
  readonly origin: Origin;
}

/** An authorization server and the requests to it, resolved. */
export interface AuthorizationNode {
  readonly target: CalloutTarget;
  readonly protocol: GrpcProtocolNode | HttpProtocolNode;
  readonly failure: number | "allow";
  readonly requestHeaders: readonly string[] | undefined;
  readonly body: BodyForwarding | undefined;
  readonly cache: VerdictCacheNode | undefined;
  readonly origin: Origin;
}

/** Authorization by gRPC, resolved. */
export interface GrpcProtocolNode {
  readonly kind: "grpc";
  readonly contextExtensions: Readonly<Record<string, string>>;
  readonly metadata: readonly NamedNode[] | undefined;
}

/** Authorization by plain HTTP, resolved; header names in lower case. */
export interface HttpProtocolNode {
  readonly kind: "http";
  readonly path: CompiledExpression | undefined;
  readonly redirect: CompiledExpression | undefined;
  readonly body: CompiledExpression | undefined;
  readonly responseHeaders: readonly string[] | "all";
  readonly addHeaders: readonly NamedNode[];
  readonly metadata: readonly NamedNode[];
}

/** The verdict cache, resolved. */
export interface VerdictCacheNode {
  readonly key: readonly CompiledExpression[];
  /** Milliseconds, or an expression on the request after the verdict was applied. */
  readonly ttl: number | CompiledExpression;
  readonly maxEntries: number;
}
