import type { Origin } from "../diagnostics/diagnostic.ts";

/** Use of the gateway's own identity as a certificate. */
export interface IdentityUse {
  readonly kind: "workloadApi";
  readonly origin: Origin;
}
