import {
  choice,
  type Infer,
  integer,
  object,
  shortText,
  unsupported,
  unsupportedBut,
} from "../../schema/schema.ts";
import { routePoliciesSchema } from "./policies.ts";

/** An item of the file's `policies` as the schema lets it through. */
export type AttachedPolicyValue = Infer<ReturnType<typeof attachedPolicySchema>>;

/** What agentgateway calls everything in a file. */
export const DEFAULT_NAME = "default";

function resourceName(what: string) {
  return {
    name: shortText(what),
    namespace: shortText("Its namespace: everything in a file is in `default`."),
  };
}

/** Policies that say themselves what they are about. */
export function attachedPolicySchema() {
  return object(
    {
      name: object(resourceName("What people call it."), {
        required: ["name"],
        description: "What it is called.",
      }),
      target: object(
        {
          gateway: object(
            {
              gatewayName: shortText("The gateway: `default`, as a file has one."),
              gatewayNamespace: shortText("Its namespace: `default`."),
              listenerName: shortText("The listener with this name alone; every one by default."),
              port: integer("The listeners of this port alone.", 1, 65535),
            },
            {
              description: "All that the gateway serves, or a listener does.",
              checks: [
                {
                  message: '"port" and "listenerName" say the same of a target',
                  field: "port",
                  holds: ({ port, listenerName }) =>
                    port === undefined || listenerName === undefined,
                  cel: "!has(self.port) || !has(self.listenerName)",
                },
              ],
            },
          ),
          route: object(
            {
              ...resourceName("The route's name."),
              ruleName: unsupported("rule names"),
              kind: unsupported("kinds of routes"),
            },
            { required: ["name"], description: "The routes with a name." },
          ),
          backend: unsupportedBut(
            "policies that are attached to a backend",
            "write them where it stands: backends: [{ name: tools, policies: {...} }]",
          ),
          listenerSet: unsupported("sets of listeners"),
        },
        { exactlyOneOf: ["gateway", "route"], description: "What it is about." },
      ),
      phase: choice(
        "When it acts: on routes, or before a route is chosen, where a listener's own policies do.",
        ["route", "gateway"],
        { default: "route" },
      ),
      policy: routePoliciesSchema(),
    },
    { required: ["target", "policy"], hasParts: true },
  );
}
