import { expression, type Infer, integer, list, object, shortText } from "../../schema/schema.ts";

/** A virtual model, as validated by its schema. */
export type VirtualModelValue = Infer<ReturnType<typeof virtualModelSchema>>;

const TARGETS =
  "write routing: { failover: { targets: [{ model: NAME, priority: 0 }] } }, or use `weighted` or `conditional`";

const model = () =>
  shortText(
    "Name of the model as clients would use it: one of `models`, or a name that a pattern there matches.",
  );

/** Returns the schema of a virtual model of the `llm` section. */
export function virtualModelSchema() {
  return object(
    {
      name: shortText("Name that clients use, exactly.", {
        pattern: "^[^*]+$",
        form: "a name without `*`",
      }),
      routing: object(
        {
          failover: object(
            {
              targets: list(
                object(
                  {
                    model: model(),
                    priority: integer(
                      "Priority of the model; lower numbers are used first.",
                      0,
                      1_000,
                    ),
                  },
                  { required: ["model", "priority"] },
                ),
                { minItems: 1, maxItems: 64, description: "Models with their priorities." },
              ),
            },
            {
              required: ["targets"],
              description:
                "Models of the same priority share the requests by their health; those of the next priority are used when they fail.",
            },
          ),
          weighted: object(
            {
              targets: list(
                object(
                  {
                    model: model(),
                    weight: integer("Weight of the model relative to the others.", 1, 1_000_000, {
                      default: 1,
                    }),
                  },
                  { required: ["model"] },
                ),
                { minItems: 1, maxItems: 64, description: "Models with their weights." },
              ),
            },
            { required: ["targets"], description: "Distributes the requests by weight." },
          ),
          conditional: object(
            {
              targets: list(
                object(
                  {
                    when: expression(
                      "CEL expression for the requests of this model; it reads `llmRequest`, the request's JSON. Only the last target can omit it and gets the remaining requests.",
                    ),
                    model: model(),
                  },
                  { required: ["model"] },
                ),
                {
                  minItems: 1,
                  maxItems: 64,
                  description: "Models with their conditions, evaluated in this order.",
                },
              ),
            },
            {
              required: ["targets"],
              description: "Uses the first model whose condition is true.",
            },
          ),
        },
        {
          exactlyOneOf: ["failover", "weighted", "conditional"],
          description: "How the model is chosen for each request.",
        },
      ),
    },
    {
      required: ["name", "routing"],
      hasParts: true,
      misplacedFieldHints: {
        ...{ targets: TARGETS, models: TARGETS, strategy: TARGETS, failover: TARGETS },
      },
    },
  );
}
