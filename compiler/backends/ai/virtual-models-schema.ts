import { localObject } from "../../manifests/field-types.ts";
import { hintFor } from "../../schema/hint-for.ts";
import {
  expression,
  type Fields,
  type Infer,
  inPhase,
  integer,
  list,
  object,
  shortText,
} from "../../schema/schema.ts";

/** A virtual model, as validated by its schema. */
export type VirtualModelValue = Infer<ReturnType<typeof virtualModelSchema>>;

const TARGETS =
  "write routing: { failover: { targets: [{ model: NAME, priority: 0 }] } }, or use `weighted` or `conditional`";

/** Returns the schema of a virtual model of the `llm` section. */
export function virtualModelSchema() {
  const model = shortText(
    "Name of the model as clients would use it: one of `models`, or a name that a pattern there matches.",
    { refersTo: ["model"] },
  );
  return object(
    {
      name: shortText("Name that clients use, exactly.", {
        pattern: "^[^*]+$",
        form: "a name without `*`",
        declares: "model",
      }),
      routing: routingSchema({ model }, ["model"]),
    },
    {
      required: ["name", "routing"],
      hasParts: true,
      misplacedFieldHints: {
        ...hintFor(TARGETS, ["targets", "models", "strategy", "failover", "fallback", "fallbacks"]),
      },
    },
  );
}

/** Returns the schema of `virtualModel` of a GatewayModel. */
export function manifestRoutingSchema() {
  const target = {
    modelRef: localObject(
      "GatewayModel",
      "A GatewayModel of the same namespace and parent that has a provider.",
    ),
    model: shortText("Name of the model, if the GatewayModel serves several: `gpt-5-mini`."),
  };
  return routingSchema(target, ["modelRef"]);
}

/** Returns the schema of the choice of a model, with fields that name the model of a target. */
function routingSchema<const Target extends Fields, const Required extends keyof Target & string>(
  target: Target,
  required: readonly Required[],
) {
  const bounds = { minItems: 1, maxItems: 64 };
  const weight = integer("Weight of the model relative to the others.", 1, 1_000_000, {
    default: 1,
  });
  const priority = integer("Priority of the model; lower numbers are used first.", 0, 1_000_000);
  const when = inPhase(
    "llm",
    expression(
      "CEL expression for the requests of this model; it reads `llmRequest`, the request's JSON. Only the last target can omit it and gets the remaining requests.",
    ),
  );
  const prioritized = object(
    { ...target, priority },
    { required: [...required, "priority" as const] },
  );
  return object(
    {
      failover: object(
        { targets: list(prioritized, { ...bounds, description: "Models with their priorities." }) },
        {
          required: ["targets"],
          description:
            "Models of the same priority share the requests by their health; those of the next priority are used when they fail.",
        },
      ),
      weighted: object(
        {
          targets: list(object({ ...target, weight }, { required }), {
            ...bounds,
            description: "Models with their weights.",
          }),
        },
        { required: ["targets"], description: "Distributes the requests by weight." },
      ),
      conditional: object(
        {
          targets: list(object({ ...target, when }, { required }), {
            ...bounds,
            description: "Models with their conditions, evaluated in this order.",
          }),
        },
        { required: ["targets"], description: "Uses the first model whose condition is true." },
      ),
    },
    {
      exactlyOneOf: ["failover", "weighted", "conditional"],
      description: "How the model is chosen for each request.",
    },
  );
}
