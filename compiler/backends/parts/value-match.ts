import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ValueMatchConfig } from "../../model/matches.ts";
import { anyText, type Infer, object, shortText, text } from "../../schema/schema.ts";

/** A header or a query parameter with a value, in the file. */
export const valueMatchSchema = object(
  {
    name: shortText("The name."),
    value: object(
      {
        exact: anyText({ maxLength: 4096, description: "The value, exactly." }),
        regex: text("An RE2 pattern that the whole value matches.", {
          maxLength: 1024,
          isPattern: true,
        }),
      },
      { exactlyOneOf: ["exact", "regex"], description: "What its value must be." },
    ),
  },
  { required: ["name", "value"] },
);

/** The canonical form of such a match. */
export function readValueMatch(
  { name, value }: Infer<typeof valueMatchSchema>,
  origin: Origin,
): ValueMatchConfig {
  const kind = value.regex === undefined ? "exact" : "regex";
  return { name, kind, value: value[kind] ?? "", origin: childOf(origin, "value", kind) };
}
