import type { Origin } from "../diagnostics/diagnostic.ts";

/** The SPIFFE Workload API from which a gateway gets its own identity. */
export interface WorkloadApiNode {
  /** `unix:///PATH` or `tcp://ADDRESS:PORT` */
  readonly endpoint: string;
  readonly origin: Origin;
}
