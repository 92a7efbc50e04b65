import { type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `a2a` as configured. It has no fields: its presence enables it. */
type A2aConfig = Readonly<Record<never, never>>;

const schema = object({}, { description: "The backend is an agent that speaks A2A." });

/**
 * Makes agents reachable through the gateway: rewrites their cards to its address and logs the A2A methods called.
 */
export const a2a: Policy<"a2a", A2aConfig, A2aConfig, Infer<typeof schema>> = {
  kind: "a2a",
  summary:
    "proxies an agent (A2A): its card, including the extended one, gives the gateway's address instead of the agent's own (the card's signature would no longer be valid and is removed), and log lines have `a2a.method`",
  scope: ["route"],
  traits: {
    actsOn: ["forwards"],
    actsOnCall: true,
  },
  schema,
  ofProtocol: { name: "a2a", config: {} },
  lowering: {
    merge: "replace",
    lower: () => ({}),
    resolve: () => ({}),
  },
};
