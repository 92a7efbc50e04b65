import { choice, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** Which name the backend sees in Host: its own, or the one that the client sent. */
export type HostMode = "Auto" | "None";

/** `hostRewrite` as configured. */
interface HostRewriteConfig {
  readonly mode: HostMode;
}

/** The Host that the backend sees; `urlRewrite.authority` wins over it. */
export const hostRewrite: Policy<"hostRewrite", HostRewriteConfig, HostRewriteConfig> = {
  kind: "hostRewrite",
  summary:
    "which Host the backend sees: its own name (Auto; so it is for named backends) or the client's (None; for IP addresses)",
  scope: ["route"],
  schema: object(
    {
      mode: choice("Auto: the backend's own name; None: what the client sent.", ["Auto", "None"]),
    },
    { required: ["mode"], description: "The Host that the backend sees." },
  ),
  protocol: "http",
  merge: "replace",
  // The schema has checked the shape.
  read: (value) => value as unknown as { readonly mode: HostMode },
  kubernetes: {
    field: "traffic.hostRewrite",
    // The schema has checked the shape.
    read: (value) => value as unknown as { readonly mode: HostMode },
  },
  resolve: (config) => config,
};
