import type { ListenerResource } from "./resources.ts";

/** Whether a listener's TLS goes on to its backends as it comes. */
export function isPassedOn({ protocol, tls }: Pick<ListenerResource, "protocol" | "tls">): boolean {
  return protocol === "TLS" && tls === undefined;
}
