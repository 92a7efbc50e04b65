import { childOf } from "../../diagnostics/diagnostic.ts";
import { choice, type ObjectValue, object, pick, text } from "../../schema/schema.ts";
import type { LowerContext } from "../backend.ts";
import { backendPolicySchemas } from "../parts/policies-schema.ts";
import type { InferencePoolConfig } from "./inference-pool-config.ts";

/** How a model server is picked for each request, as the schema lets it through. */
export type PickingValue = ObjectValue<ReturnType<typeof pickerSchemas>, "endpointPicker">;

/** The fields that say how a model server is picked for each request. */
export function pickerSchemas() {
  return {
    endpointPicker: object(
      {
        host: text("`host:port` or a URL of the picker.", {
          readAtStart: true,
          examples: ["picker.default.svc.cluster.local:9002"],
        }),
        policies: object(
          pick(backendPolicySchemas(), ["backendTLS", "backendAuth", "http", "tcp"]),
          { minProperties: 1, description: "How the picker is reached." },
        ),
      },
      {
        required: ["host"],
        description:
          "Who names an endpoint for each request in `x-gateway-destination-endpoint` (endpoint picker protocol, over Envoy's external processing).",
      },
    ),
    failureMode: choice(
      "What becomes of requests for which the picker names no endpoint of the pool: 503, or any endpoint.",
      ["failClosed", "failOpen"],
      { default: "failClosed" },
    ),
    destinationMode: choice(
      "`validated`: the picker is offered the addresses of the pool's name and picks one of them. `passthrough`: it finds the endpoints by itself, and any address that it names is asked (a picker of its own beside the gateway).",
      ["validated", "passthrough"],
      { default: "validated" },
    ),
  };
}

/** The same in its canonical form. */
export function lowerPicking(
  { endpointPicker, failureMode, destinationMode }: PickingValue,
  { origin, policies }: LowerContext,
): Omit<InferencePoolConfig, "address"> {
  const at = childOf(origin, "endpointPicker");
  return {
    picker: {
      to: { host: endpointPicker.host },
      policies: policies(endpointPicker.policies, childOf(at, "policies")),
      origin: childOf(at, "host"),
    },
    passesOnFailure: failureMode === "failOpen",
    takesAnyEndpoint: destinationMode === "passthrough",
  };
}
