import { isHole } from "../../templates/code/hole.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import type { Program } from "../ir/program.ts";
import type { WorkloadApiNode } from "../ir/workload-api.ts";

/**
 * Returns the source of a gateway's identity; an empty object if nothing uses one, so that it is not awaited. In a file, that
 * is reported; in a cluster, parameters may be those of several Gateways.
 */
export function resolveWorkloadApi(
  workloadApi: WorkloadApiNode | undefined,
  { binds, tcp, tracing, accessLog }: Program,
  diagnostics: Diagnostics,
): Pick<Program, "workloadApi"> {
  if (workloadApi === undefined) return {};
  if (usesIdentity({ binds, tcp, tracing, accessLog })) return { workloadApi };
  if (workloadApi.origin.resource === undefined)
    diagnostics.report("spiffe-unused", keyPlace(workloadApi.origin), {});
  return {};
}

/** Whether a part of a program uses the gateway's own identity. */
function usesIdentity(value: unknown): boolean {
  if (typeof value !== "object" || value === null || isHole(value)) return false;
  if ("kind" in value && value.kind === "workloadApi") return true;
  return Object.entries(value).some(([name, each]) => !PLAIN.has(name) && usesIdentity(each));
}

/** Fields without certificates: places, and conditions of routes. */
const PLAIN: ReadonlySet<string> = new Set(["origin", "table"]);
