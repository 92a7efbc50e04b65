import type { CalloutTarget } from "../../backends/parts/callout-target.ts";
import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import type { NamedNode } from "../../backends/parts/named-expressions.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";

/** A limit service and what it counts, as configured. */
export interface LimitServiceConfig {
  readonly server: DestinationConfig;
  readonly domain: string;
  readonly descriptors: readonly DescriptorConfig[];
  /** What happens when it can't be reached. */
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

/** What is counted together, as configured. */
export interface DescriptorConfig {
  readonly unit: "requests" | "tokens";
  readonly entries: readonly NamedExpression[];
  readonly cost: ExpressionConfig | undefined;
  readonly limit: ExpressionConfig | undefined;
  readonly origin: Origin;
  readonly unitOrigin: Origin;
}

/** A limit service and what it counts. */
export interface LimitServiceNode {
  readonly target: CalloutTarget;
  readonly domain: string;
  readonly descriptors: readonly DescriptorNode[];
  readonly passesOnFailure: boolean;
  readonly origin: Origin;
}

/** What is counted together. */
export interface DescriptorNode {
  readonly unit: "requests" | "tokens";
  readonly entries: readonly NamedNode[];
  /** What a request counts; of tokens it is evaluated when the response is there. */
  readonly cost: CompiledExpression | undefined;
  /** The limit that holds in the place of the service's own. */
  readonly limit: CompiledExpression | undefined;
}
