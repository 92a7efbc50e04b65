import type { CalloutTarget } from "../../backends/parts/callout-target.ts";
import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import type { NamedNode } from "../../backends/parts/named-expressions.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";

/** A limit service and its descriptors, as configured. */
export interface LimitServiceConfig {
  readonly server: DestinationConfig;
  readonly domain: string;
  readonly descriptors: readonly DescriptorConfig[];
  /** Whether requests pass if the service cannot be reached. */
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

/** Entries that are counted together, as configured. */
export interface DescriptorConfig {
  readonly unit: "requests" | "tokens";
  readonly entries: readonly NamedExpression[];
  readonly cost: ExpressionConfig | undefined;
  readonly limit: ExpressionConfig | undefined;
  readonly origin: Origin;
  readonly unitOrigin: Origin;
}

/** A limit service and its descriptors, resolved. */
export interface LimitServiceNode {
  readonly target: CalloutTarget;
  readonly domain: string;
  readonly descriptors: readonly DescriptorNode[];
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

/** Entries that are counted together, resolved. */
export interface DescriptorNode {
  readonly unit: "requests" | "tokens";
  readonly entries: readonly NamedNode[];
  /** Amount that a request counts; for tokens, evaluated once the response is complete. */
  readonly cost: CompiledExpression | undefined;
  /** Limit that overrides the service's own. */
  readonly limit: CompiledExpression | undefined;
}
