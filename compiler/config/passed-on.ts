import type { ListenerResource } from "./resources.ts";

/** Whether a listener passes TLS through to its backends. */
export function isPassedOn({ protocol, tls }: Pick<ListenerResource, "protocol" | "tls">): boolean {
  return protocol === "TLS" && tls === undefined;
}
