import { valueMatchSchema } from "../../backends/parts/value-match.ts";
import { hostname } from "../../manifests/field-types.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { PATH_FORM } from "../../schema/path-form.ts";
import {
  anyText,
  type Infer,
  ignored,
  list,
  listOfParts,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import { routeBackendSchema } from "./backend.ts";
import { routePoliciesSchema } from "./policies.ts";

/** Schema of the name of a route. */
export const nameOfRoute = shortText("Name in logs, metrics and generated code.", {
  declares: "route",
});

/** Schema of the name of a rule of a route. */
export const ruleNameOfRoute = shortText(
  "Name of this part of a route, if several entries have the same `name`: logs and metrics show `NAME/RULE`, and `policies` can target it.",
  { declares: "rule" },
);

/** Options of schemas of request routes. */
export const routeOptions = {
  hasParts: true,
  misplacedFieldHints: {
    ...hintFor('write backends: [{ host: "127.0.0.1:8080" }]', [
      ...["to", "target", "upstream", "upstreams", "url", "proxy", "proxyPass"],
    ]),
    ...hintFor("write hostnames: [api.example.com]", ["domain", "domains"]),
    ...hintFor(
      "write hostnames: [api.example.com] for its clients, or backends: [{ host: HOST:PORT }] for its server",
      ["host", "hosts"],
    ),
    ...hintFor("write matches: [{ path: { pathPrefix: /api } }]", ["path", "paths", "prefix"]),
    ...hintFor("write matches: [{ method: GET }]", ["method", "methods"]),
  },
};

/** Type of a valid request route. */
export type RouteValue = Infer<ReturnType<typeof routeSchema>>;

/** Schema of a request route. */
export function routeSchema() {
  return object(routeFields(), routeOptions);
}

/** Returns the fields of a request route. */
export function routeFields() {
  return {
    name: nameOfRoute,
    namespace: ignored("a file has no namespaces", "remove it"),
    ruleName: ruleNameOfRoute,
    hostnames: list(
      { ...hostname, maxLength: 256 },
      {
        description: "Hostnames that it serves; all of the listener by default, or if empty.",
      },
    ),
    matches: listOfParts(matchSchema, {
      minItems: 1,
      description: "Alternative conditions for requests. Every path by default.",
    }),
    policies: routePoliciesSchema(),
    backends: listOfParts(routeBackendSchema(), {
      maxItems: 32,
      description: "One backend, or several plain HTTP and MCP backends by weight.",
    }),
  };
}

/** Type of a valid set of conditions. */
export type MatchValue = Infer<typeof matchSchema>;

const PATH_FORMS = 'write { pathPrefix: /api }, { exact: /api } or { regex: "/api/.*" }';

const matchSchema = object(
  {
    path: object(
      {
        exact: shortText("This path.", { maxLength: 1024, ...PATH_FORM }),
        pathPrefix: anyText({
          maxLength: 1024,
          ...PATH_FORM,
          pattern: "^$|^/",
          description:
            'This path and everything below it, by whole segments. `""` is the same as "/".',
        }),
        regex: text("An RE2 pattern that the whole path matches.", {
          maxLength: 1024,
          isPattern: true,
        }),
      },
      {
        exactlyOneOf: ["exact", "pathPrefix", "regex"],
        misplacedFieldHints: { type: PATH_FORMS, value: PATH_FORMS },
        description: "Condition on the path.",
      },
    ),
    method: shortText("The method.", {
      pattern: "^[A-Z]+$",
      form: 'a method in capital letters, such as "GET"',
      misplacedFieldHints: {
        "[]": "write one match for each: matches: [{ method: GET }, { method: POST }]",
      },
    }),
    headers: list(valueMatchSchema, {
      maxItems: 16,
      description: "Conditions on headers; all must match.",
    }),
    query: list(valueMatchSchema, {
      maxItems: 16,
      description: "Conditions on query parameters; all must match.",
    }),
  },
  {
    misplacedFieldHints: {
      prefix: "write path: { pathPrefix: /api }",
      ...hintFor("write path: { exact: /package.Service/Method }", ["grpc", "service"]),
    },
  },
);
