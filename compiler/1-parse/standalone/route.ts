import { valueMatchSchema } from "../../backends/parts/value-match.ts";
import { PATH_FORM } from "../../schema/path-form.ts";
import {
  type Infer,
  list,
  listOfParts,
  object,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { routeBackendSchema } from "./backend.ts";
import { routePoliciesSchema } from "./policies.ts";

/** A route of requests as the schema lets it through. */
export type RouteValue = Infer<ReturnType<typeof routeSchema>>;

/** A route of requests. */
export function routeSchema() {
  return object(
    {
      name: shortText("What logs, metrics and generated code call it."),
      namespace: unsupported("route namespaces"),
      ruleName: unsupported("rule names"),
      hostnames: list(
        shortText("A host name, exact or with a first label `*`.", { format: "hostname" }),
        {
          minItems: 1,
          description: "Which hosts it answers; every host of the listener by default.",
        },
      ),
      matches: listOfParts(matchSchema, {
        minItems: 1,
        description: "Which requests it answers: any of these. Every path by default.",
      }),
      policies: routePoliciesSchema(),
      backends: listOfParts(routeBackendSchema(), {
        maxItems: 32,
        description:
          "Where requests go: one backend, or several by weight: plain HTTP ones, and MCP servers.",
      }),
    },
    { hasParts: true },
  );
}

/** One set of conditions as the schema lets it through. */
export type MatchValue = Infer<typeof matchSchema>;

const PATH_FORMS = 'write { pathPrefix: /api }, { exact: /api } or { regex: "/api/.*" }';

const matchSchema = object(
  {
    path: object(
      {
        exact: shortText("This path.", { maxLength: 1024, ...PATH_FORM }),
        pathPrefix: shortText("This path and everything below it, by whole segments.", {
          maxLength: 1024,
          ...PATH_FORM,
        }),
        regex: text("An RE2 pattern that the whole path matches.", {
          maxLength: 1024,
          isPattern: true,
        }),
      },
      {
        exactlyOneOf: ["exact", "pathPrefix", "regex"],
        misplacedFieldHints: { type: PATH_FORMS, value: PATH_FORMS },
        description: "What the path must be.",
      },
    ),
    method: shortText("The method.", {
      pattern: "^[A-Z]+$",
      form: 'a method in capital letters, such as "GET"',
    }),
    headers: list(valueMatchSchema, { maxItems: 16, description: "All of these headers." }),
    query: list(valueMatchSchema, { maxItems: 16, description: "All of these query parameters." }),
  },
  { misplacedFieldHints: { prefix: "write path: { pathPrefix: /api }" } },
);
