import type { PodAddress } from "../../runtime/net/service-endpoints.ts";
import type { OriginModule } from "./module-origins.ts";

/** A generation, as threads load it. */
export interface AgentCode {
  readonly modules: readonly OriginModule[];
  readonly variables: Readonly<Record<string, string>>;
}

/** What threads are notified of: the pods of a Service's port; undefined: nobody knows them. */
export interface AgentNews {
  readonly port: string;
  readonly pods: readonly PodAddress[] | undefined;
}
