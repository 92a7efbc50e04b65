import type { ProcessSettings } from "../../ir.ts";
import type { ManifestOf } from "../../manifests.ts";
import type { ReferenceContext } from "./references.ts";

/** Seconds that a pod's listeners stay open after SIGTERM: load balancers learn late that it is going. */
const DRAIN_MIN = 10;
/** Seconds that its streams may end by themselves. */
const DRAIN_MAX = 60;

/** The process settings of a Gateway's pods. */
export function processSettings(
  _gateway: ManifestOf<"Gateway">,
  _context: ReferenceContext,
): ProcessSettings {
  return {
    accessLog: { format: "text" },
    addresses: { stats: "0.0.0.0:15020", readiness: "0.0.0.0:15021" },
    adminAddress: "127.0.0.1:15000",
    drain: { min: DRAIN_MIN * 1000, max: DRAIN_MAX * 1000 },
  };
}
