/** Whether a gateway has a store that replicas share: `optional` if it may start without, `unknown` without a gateway. */
export type SharedStore = "required" | "optional" | "none" | "unknown";
