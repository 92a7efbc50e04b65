import { LABEL_NAME } from "../schema/label-name.ts";
import {
  boolean,
  expression,
  type Infer,
  inPhase,
  integer,
  map,
  object,
} from "../schema/schema.ts";

/** Type of a valid `usage`. */
export type UsageValue = Infer<ReturnType<typeof usageSchema>>;

/** Returns the schema of the usage of models that is stored, for files and manifests. */
export function usageSchema() {
  return object(
    {
      by: map(inPhase("log", expression("CEL expression for the value.")), {
        minProperties: 1,
        maxProperties: 8,
        propertyNames: { pattern: LABEL_NAME.pattern, form: LABEL_NAME.form },
        description:
          "Attributes of calls that usage can be grouped by, such as `team: apiKey.team`, next to key, user, model and day. A value is empty if its expression fails.",
      }),
      days: integer("Days for which usage is stored.", 1, 3650, { default: 400 }),
      selfService: boolean(
        "Whether callers may ask for their own usage: `GET /v1/usage` next to the models of `llm` and of GatewayModels.",
        { default: false },
      ),
    },
    {
      description:
        "Adds up requests, tokens and costs of models per caller, model and day in the store; `gwc usage` reports them. `{}` enables it.",
    },
  );
}
