import type { BackendResolveContext } from "../parts/backend-resolve-context.ts";
import { type CalloutTarget, grpcTarget } from "../parts/callout-target.ts";
import { resolveDestination } from "../parts/destination.ts";
import type { PickingConfig } from "./inference-pool-config.ts";

/** Choice of a server for each request, complete. */
export interface PickingNode {
  readonly picker: CalloutTarget;
  readonly passesOnFailure: boolean;
  readonly takesAnyEndpoint: boolean;
}

/** Resolves how servers are chosen; returns `undefined` if a mistake was reported. */
export function resolvePicking(
  { picker, passesOnFailure, takesAnyEndpoint }: PickingConfig,
  context: BackendResolveContext,
): PickingNode | undefined {
  const found = resolveDestination(picker, { ...context, user: "inferenceRouting" });
  if (found === undefined) return undefined;
  return { picker: grpcTarget(found, context.diagnostics), passesOnFailure, takesAnyEndpoint };
}
