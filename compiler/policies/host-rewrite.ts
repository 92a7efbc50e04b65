import { choice, type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** Which name the backend sees in Host: its own, or the one that the client sent. */
export type HostMode = "Auto" | "None";

/** `hostRewrite` as configured. */
interface HostRewriteConfig {
  readonly mode: HostMode;
}

const schema = object(
  {
    mode: choice("Auto: the backend's own name; None: what the client sent.", ["Auto", "None"]),
  },
  { required: ["mode"], description: "The Host that the backend sees." },
);

const kubernetesSchema = object(
  { mode: choice("Which Host the backend sees.", ["Auto", "None"]) },
  { required: ["mode"] },
);

/** The Host that the backend sees; `urlRewrite.authority` wins over it. */
export const hostRewrite: Policy<
  "hostRewrite",
  HostRewriteConfig,
  HostRewriteConfig,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "hostRewrite",
  summary:
    "says which Host the backend sees: its own name (Auto; so it is for named backends) or the client's (None; for IP addresses); servers of MCP see their own unless it says None",
  scope: ["route"],
  schema,
  actsOn: ["forwards", "mcpServers"],
  merge: "replace",
  lower: (value) => value,
  kubernetes: {
    field: "traffic.hostRewrite",
    schema: kubernetesSchema,
    lower: (value) => value,
  },
  resolve: (config) => config,
};
