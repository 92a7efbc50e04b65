import { expression, type Infer, integer, list, object, shortText } from "../../schema/schema.ts";

/** A virtual model as its schema lets it through. */
export type VirtualModelValue = Infer<ReturnType<typeof virtualModelSchema>>;

const TARGETS =
  "write routing: { failover: { targets: [{ model: NAME, priority: 0 }] } }, or `weighted` or `conditional` in its place";

const model = () =>
  shortText(
    "The model, as clients would ask for it: one of `models`, or one that a `*` there means.",
  );

/** A virtual model of the front door. */
export function virtualModelSchema() {
  return object(
    {
      name: shortText("What clients ask for, exactly.", {
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
                    priority: integer("Lower ones are asked first.", 0, 1_000),
                  },
                  { required: ["model", "priority"] },
                ),
                { minItems: 1, maxItems: 64, description: "The models." },
              ),
            },
            {
              required: ["targets"],
              description:
                "Models of one priority share the requests by how they do; those of the next one are asked when they fail.",
            },
          ),
          weighted: object(
            {
              targets: list(
                object(
                  {
                    model: model(),
                    weight: integer(
                      "Its share of the requests, beside those of the others.",
                      1,
                      1_000_000,
                      {
                        default: 1,
                      },
                    ),
                  },
                  { required: ["model"] },
                ),
                { minItems: 1, maxItems: 64, description: "The models." },
              ),
            },
            { required: ["targets"], description: "Each model has a share of the requests." },
          ),
          conditional: object(
            {
              targets: list(
                object(
                  {
                    when: expression(
                      "A CEL expression that is true where this model is asked; it reads `llmRequest`, the request's JSON. Without it the model is asked for what is left: it is the last one.",
                    ),
                    model: model(),
                  },
                  { required: ["model"] },
                ),
                { minItems: 1, maxItems: 64, description: "The models, in this order." },
              ),
            },
            {
              required: ["targets"],
              description: "The first model is asked whose condition holds.",
            },
          ),
        },
        {
          exactlyOneOf: ["failover", "weighted", "conditional"],
          description: "Which model is asked in its place.",
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
