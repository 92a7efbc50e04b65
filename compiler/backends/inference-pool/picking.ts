import { childOf } from "../../diagnostics/diagnostic.ts";
import { choice, type ObjectValue, object, pick, text } from "../../schema/schema.ts";
import type { LowerContext } from "../backend.ts";
import { backendPolicySchemas } from "../parts/policies-schema.ts";
import type { PickingConfig } from "./inference-pool-config.ts";

/** Choice of a model server for each request, as validated by the schema. */
export type PickingValue = ObjectValue<ReturnType<typeof pickerSchemas>, "endpointPicker">;

/** Returns the schemas of the fields that configure how a model server is chosen. */
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
          { minProperties: 1, description: "Connection to the picker." },
        ),
      },
      {
        required: ["host"],
        description:
          "Server that chooses an endpoint for each request, in `x-gateway-destination-endpoint` (endpoint picker protocol, over Envoy's external processing).",
      },
    ),
    failureMode: choice(
      "Outcome if the picker returns no endpoint of the pool: 503, or a request to any endpoint.",
      ["failClosed", "failOpen"],
      { default: "failClosed" },
    ),
    destinationMode: choice(
      "`validated`: the picker chooses one of the addresses of the pool's name. `passthrough`: the picker finds the endpoints itself, and any address that it returns is accepted (for a picker that runs next to the gateway).",
      ["validated", "passthrough"],
      { default: "validated" },
    ),
  };
}

/** Converts the fields to canonical form. */
export function lowerPicking(
  { endpointPicker, failureMode, destinationMode }: PickingValue,
  { origin, policies }: LowerContext,
): PickingConfig {
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
