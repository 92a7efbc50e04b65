import { type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `a2a` as configured: that it is there is all that it says. */
type A2aConfig = Readonly<Record<never, never>>;

const schema = object({}, { description: "The backend is an agent that speaks A2A." });

/** Shows agents at the gateway: their cards name it, and log lines name what they are asked. */
export const a2a: Policy<"a2a", A2aConfig, A2aConfig, Infer<typeof schema>> = {
  kind: "a2a",
  summary:
    "proxies an agent (A2A): its card, also the extended one, gives the gateway's address in the place of the agent's own (a signature of the card, which would no longer hold, is left out), and log lines have `a2a.method`",
  scope: ["route"],
  actsOn: ["forwards"],
  schema,
  merge: "replace",
  actsOnCall: true,
  lower: () => ({}),
  resolve: () => ({}),
};
