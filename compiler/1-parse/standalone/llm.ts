import { doorApisSchema } from "../../backends/ai/door-apis.ts";
import {
  modelSchema,
  SHARED_NAME,
  sharedProviderSchema,
} from "../../backends/ai/front-door-schema.ts";
import { virtualModelSchema } from "../../backends/ai/virtual-models-schema.ts";
import { type Infer, integer, listOfParts, object, text } from "../../schema/schema.ts";
import { gatewayRefsSchema, OWN_PORT, withoutGateways } from "./gateway.ts";
import { listenerTlsSchema } from "./listener.ts";
import { llmDoorPoliciesSchema } from "./policies.ts";

/** Default port of `llm`. */
export const LLM_PORT = 4000;

/** Type of a valid `llm`. */
export type LlmValue = Infer<ReturnType<typeof llmSchema>>;

const BUDGET = "use a limit: policies: { localRateLimit: [{ budget: 50, unit: Months }] }";

/** Schema of `llm`: models by name on their own port, for clients of every format. */
export function llmSchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { default: LLM_PORT }),
      address: text("IP address of the port, as in a bind.", {
        format: "ip",
      }),
      models: listOfParts(modelSchema(), {
        maxItems: 256,
        description: "Models that clients can request.",
      }),
      apis: doorApisSchema,
      policies: llmDoorPoliciesSchema(),
      providers: listOfParts(sharedProviderSchema(), {
        maxItems: 64,
        description: "Providers that several models share, by name.",
      }),
      virtualModels: listOfParts(virtualModelSchema(), {
        maxItems: 256,
        description: "Names that stand for one of several `models`.",
      }),
      tls: listenerTlsSchema("TLS of this port, for HTTPS clients."),
      gateways: gatewayRefsSchema("the models", OWN_PORT),
    },
    {
      required: ["models"],
      hasParts: true,
      checks: withoutGateways(["port", "address", "tls"]),
      misplacedFieldHints: {
        ...{ budget: BUDGET, budgets: BUDGET, fallbacks: SHARED_NAME, failover: SHARED_NAME },
      },
      description:
        "Models by name, for clients of OpenAI and Anthropic: chat completions, messages and the other APIs of their providers, at the usual paths.",
    },
  );
}
