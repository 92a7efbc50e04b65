import { modelSchema, SHARED_NAME } from "../../backends/ai/front-door-schema.ts";
import { virtualModelSchema } from "../../backends/ai/virtual-models-schema.ts";
import {
  type Infer,
  integer,
  listOfParts,
  object,
  text,
  unsupported,
  unsupportedBut,
} from "../../schema/schema.ts";
import { listenerTlsSchema } from "./listener.ts";
import { routePoliciesSchema } from "./policies.ts";

/** The port of the front door unless it says another one. */
export const LLM_PORT = 4000;

/** `llm` as the schema lets it through. */
export type LlmValue = Infer<ReturnType<typeof llmSchema>>;

const BUDGET =
  "it is a limit: policies: { localRateLimit: [{ budget: 50, unit: Months, cost: EXPRESSION }] }";

/** The front door: models by name on a port of their own, for clients of every format. */
export function llmSchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { default: LLM_PORT }),
      address: text("The IP address that the port is open on, as that of a bind.", {
        format: "ip",
      }),
      models: listOfParts(modelSchema(), {
        minItems: 1,
        maxItems: 256,
        description: "The models that clients may ask for.",
      }),
      policies: routePoliciesSchema(),
      providers: unsupportedBut(
        "providers that models share",
        "say `provider` and `params` of each model; `params: &shared {...}` at one is `params: *shared` at others",
      ),
      virtualModels: listOfParts(virtualModelSchema(), {
        minItems: 1,
        maxItems: 256,
        description: "Names for which one of several `models` is asked.",
      }),
      tls: listenerTlsSchema("TLS of this port: its clients speak HTTPS."),
      gateways: unsupported("named gateways"),
    },
    {
      required: ["models"],
      hasParts: true,
      misplacedFieldHints: {
        ...{ budget: BUDGET, budgets: BUDGET, fallbacks: SHARED_NAME, failover: SHARED_NAME },
      },
      description:
        "Models by name, for clients of OpenAI and Anthropic alike: chat completions, messages and whatever else their providers serve, each at its usual path.",
    },
  );
}
