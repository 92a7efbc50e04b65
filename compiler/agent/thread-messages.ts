import type { PodAddress } from "../../runtime/net/service-endpoints.ts";
import type { OriginModule } from "./module-origins.ts";

/** A generation, in the form that threads load. */
export interface AgentCode {
  readonly modules: readonly OriginModule[];
  readonly variables: Readonly<Record<string, string>>;
  /** Ports that cannot be opened. */
  readonly closed: readonly number[];
}

/** Data that threads are notified of: pods by port of a Service; `undefined` if they are unknown. */
export interface AgentNews {
  readonly port: string;
  readonly pods: readonly PodAddress[] | undefined;
}
