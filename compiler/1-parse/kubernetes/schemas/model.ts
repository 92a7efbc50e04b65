import { promptGuard } from "../../../backends/ai/guard-manifest-form.ts";
import { modelFields } from "../../../backends/ai/manifest-models.ts";
import { llmFields } from "../../../backends/ai/manifest-policies.ts";
import { kubernetesHeaderChangesSchema } from "../../../backends/parts/header-changes.ts";
import { gatewayModelSchema } from "../../../manifests/model.ts";
import { object, unsupportedBut } from "../../../schema/schema.ts";
import { clientServerFields, simpleBackend, simpleFields } from "./connection.ts";

/** Returns the schema of GatewayModel. */
export function modelResourceSchema() {
  const fields = {
    transformations: llmFields.transformations,
    finalTransformations: unsupportedBut(
      "changes to requests after their translation",
      "write `transformations`, which change requests before they are translated",
    ),
    authorization: unsupportedBut(
      "rules of one model",
      "serve the model at an HTTPRoute of its own, and write the rules in a GatewayPolicy for that route",
    ),
    auth: simpleFields.auth,
    health: clientServerFields.health,
    tls: simpleFields.tls,
    tunnel: clientServerFields.tunnel,
    headers: object(
      { request: kubernetesHeaderChangesSchema, response: kubernetesHeaderChangesSchema },
      {
        atLeastOneOf: ["request", "response"],
        description: "Changes to the headers of requests to this model, and of its responses.",
      },
    ),
    promptGuard: promptGuard(simpleBackend),
  };
  const policies = object(fields, {
    atLeastOneOf: Object.keys(fields),
    hasParts: true,
    description: "Connection settings and policies of this model.",
  });
  return gatewayModelSchema(modelFields(), policies);
}
