import {
  choice,
  type Infer,
  ignored,
  integer,
  object,
  shortText,
  unsupportedBut,
} from "../../schema/schema.ts";
import { routePoliciesSchema } from "./policies.ts";

/** Type of a valid item of the file's `policies`. */
export type AttachedPolicyValue = Infer<ReturnType<typeof attachedPolicySchema>>;

/** agentgateway's name of everything in a file. */
export const DEFAULT_NAME = "default";

function resourceName(what: string, rest: { readonly refersTo?: readonly string[] } = {}) {
  return {
    name: shortText(what, rest),
    namespace: shortText("Namespace: everything in a file is in `default`."),
  };
}

/** Schema of policies that name their own targets. */
export function attachedPolicySchema() {
  return object(
    {
      name: object(resourceName("Name of the policy."), {
        required: ["name"],
        description: "Name of the policy.",
      }),
      target: object(
        {
          gateway: object(
            {
              gatewayName: shortText(
                "One of the file's `gateways`; `default`, as in agentgateway, for all ports of the file.",
                { refersTo: ["gateway"] },
              ),
              gatewayNamespace: shortText("Its namespace: `default`."),
              listenerName: shortText(
                "Only the listener with this name; all by default. That of a gateway is named `GATEWAY` or `GATEWAY/LISTENER`.",
                { refersTo: ["gateway"] },
              ),
              port: integer("Only the listeners on this port.", 1, 65535),
            },
            {
              description: "Everything that the gateway or a listener serves.",
              checks: [
                {
                  message: '"port" and "listenerName" cannot be combined',
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
              ...resourceName("The route's name.", { refersTo: ["route"] }),
              ruleName: shortText(
                "Only the routes with this `ruleName`; all with the name by default.",
                { refersTo: ["rule"] },
              ),
              kind: ignored("names of routes are unique among all kinds in a file", "remove it"),
            },
            { required: ["name"], description: "Routes with this name." },
          ),
          backend: unsupportedBut(
            "policies that are attached to a backend",
            "write them in the backend: backends: [{ name: tools, policies: {...} }]",
          ),
          listenerSet: unsupportedBut("sets of listeners", "target the gateway by its name"),
        },
        { exactlyOneOf: ["gateway", "route"], description: "Target of the policy." },
      ),
      phase: choice(
        "When it runs: on routes, or before a route is chosen, like the policies of a listener.",
        ["route", "gateway"],
        { default: "route" },
      ),
      policy: routePoliciesSchema(),
    },
    { required: ["target", "policy"], hasParts: true },
  );
}
