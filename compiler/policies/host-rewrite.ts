import { choice, type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** Host header that the backend sees: its own name (`Auto`), or the client's (`None`). */
export type HostMode = "Auto" | "None";

/** `hostRewrite` as configured. */
interface HostRewriteConfig {
  readonly mode: HostMode;
}

const schema = object(
  {
    mode: choice("`Auto` for the backend's own name, `None` for the client's.", ["Auto", "None"]),
  },
  { required: ["mode"], description: "Sets the Host header that the backend sees." },
);

/** Sets the Host header that the backend sees; `urlRewrite.authority` overrides it. */
export const hostRewrite: Policy<
  "hostRewrite",
  HostRewriteConfig,
  HostRewriteConfig,
  Infer<typeof schema>,
  Infer<typeof schema>
> = {
  kind: "hostRewrite",
  summary:
    "sets the Host header that the backend sees: its own name (`Auto`, the default for backends with a host name) or the client's (`None`, the default for IP addresses); MCP servers see their own unless it is `None`",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["forwards", "mcpServers"],
  },
  lowering: {
    merge: "replace",
    lower: (value) => value,
    resolve: (config) => config,
  },
  kubernetes: {
    field: "traffic.hostRewrite",
    schema,
    lower: (value) => value,
  },
};
