import type { BodyForwarding } from "../../../runtime/policies/ext-authz/forwarded-body.ts";
import type { CalloutTarget } from "../../backends/parts/callout-target.ts";
import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import type { NamedNode } from "../../backends/parts/named-expressions.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";

/** Headers by their names, as configured. */
export interface NamedHeaders {
  readonly names: readonly string[];
  /** Of the list. */
  readonly origin: Origin;
}

/** An authorization server and what it is asked, as configured. */
export interface AuthorizationConfig {
  readonly server: DestinationConfig;
  readonly protocol: GrpcProtocolConfig | HttpProtocolConfig;
  /** The status of a request without a verdict, or that it passes. */
  readonly failure: number | "allow";
  /** Undefined: as the protocol has it. */
  readonly requestHeaders: NamedHeaders | undefined;
  readonly body: BodyForwarding | undefined;
  readonly cache: VerdictCacheConfig | undefined;
  readonly origin: Origin;
}

/** Asked by gRPC, as configured. */
export interface GrpcProtocolConfig {
  readonly kind: "grpc";
  readonly contextExtensions: Readonly<Record<string, string>>;
  /** Undefined: the claims of the token. */
  readonly metadata: readonly NamedExpression[] | undefined;
}

/** Asked by plain HTTP, as configured. */
export interface HttpProtocolConfig {
  readonly kind: "http";
  readonly path: ExpressionConfig | undefined;
  readonly redirect: ExpressionConfig | undefined;
  /** Of the request's headers, besides those that are configured. */
  readonly alwaysSent: readonly string[];
  /** `all`: whichever the server sends. */
  readonly responseHeaders: NamedHeaders | "all" | undefined;
  readonly addHeaders: readonly NamedExpression[];
  readonly metadata: readonly NamedExpression[];
}

/** Which requests share a verdict, as configured. */
export interface VerdictCacheConfig {
  readonly key: readonly ExpressionConfig[];
  /** Milliseconds. */
  readonly ttl: number;
  readonly maxEntries: number;
  readonly origin: Origin;
}

/** An authorization server and what it is asked. */
export interface AuthorizationNode {
  readonly target: CalloutTarget;
  readonly protocol: GrpcProtocolNode | HttpProtocolNode;
  readonly failure: number | "allow";
  readonly requestHeaders: readonly string[] | undefined;
  readonly body: BodyForwarding | undefined;
  readonly cache: VerdictCacheNode | undefined;
  readonly origin: Origin;
}

/** Asked by gRPC. */
export interface GrpcProtocolNode {
  readonly kind: "grpc";
  readonly contextExtensions: Readonly<Record<string, string>>;
  readonly metadata: readonly NamedNode[] | undefined;
}

/** Asked by plain HTTP; header names in lower case. */
export interface HttpProtocolNode {
  readonly kind: "http";
  readonly path: CompiledExpression | undefined;
  readonly redirect: CompiledExpression | undefined;
  readonly responseHeaders: readonly string[] | "all";
  readonly addHeaders: readonly NamedNode[];
  readonly metadata: readonly NamedNode[];
}

/** Which requests share a verdict. */
export interface VerdictCacheNode {
  readonly key: readonly CompiledExpression[];
  /** Milliseconds. */
  readonly ttl: number;
  readonly maxEntries: number;
}
