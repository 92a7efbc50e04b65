import { promptGuard } from "../../../backends/ai/guard-manifest-form.ts";
import { modelFields } from "../../../backends/ai/manifest-models.ts";
import { llmFields } from "../../../backends/ai/manifest-policies.ts";
import { kubernetesHeaderChangesSchema } from "../../../backends/parts/header-changes.ts";
import { clientServerFields, simpleFields } from "../../../backends/parts/manifest-connection.ts";
import { kubernetesRulesSchema } from "../../../backends/parts/rules.ts";
import { gatewayModelSchema } from "../../../manifests/model.ts";
import { object } from "../../../schema/schema.ts";

/** Returns the schema of GatewayModel. */
export function modelResourceSchema() {
  const fields = {
    transformations: llmFields.transformations,
    finalTransformations: llmFields.finalTransformations,
    authorization: {
      ...kubernetesRulesSchema,
      description:
        "Rules of who may use this model, in addition to the rules of the route. The list of models contains only those that the caller may use.",
    },
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
    promptGuard,
  };
  const policies = object(fields, {
    atLeastOneOf: Object.keys(fields),
    hasParts: true,
    description: "Connection settings and policies of this model.",
  });
  return gatewayModelSchema(modelFields(), policies);
}
