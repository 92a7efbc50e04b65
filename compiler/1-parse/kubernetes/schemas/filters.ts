import { choice, integer, list, object, type Schema } from "../../../schema/schema.ts";
import { backendReference, localReference, port, preciseHostname } from "./field-types.ts";
import { corsFields, headerFilter } from "./http.ts";

/** What of a path is replaced, and the field that says by what. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  ReplaceFullPath: "replaceFullPath",
  ReplacePrefixMatch: "replacePrefixMatch",
};

const replacePath: Schema = object(
  {
    type: choice("What is replaced.", ["ReplaceFullPath", "ReplacePrefixMatch"]),
    replaceFullPath: { type: "string", maxLength: 1024 },
    replacePrefixMatch: { type: "string", maxLength: 1024 },
  },
  {
    required: ["type"],
    checks: Object.entries(REPLACEMENTS).map(([type, field]) => ({
      message: `"${field}" stands with type: ${type}, and only with it`,
      field,
      holds: (path) => (path.type === type) === Object.hasOwn(path, field),
      cel: `(self.type == '${type}') == has(self.${field})`,
    })),
  },
);

/** What a filter's `type` says, and the field that holds its settings. */
const FILTERS: Readonly<Record<string, string>> = {
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestMirror: "requestMirror",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  CORS: "cors",
  ExternalAuth: "externalAuth",
  ExtensionRef: "extensionRef",
};

/** Gateway API `HTTPRouteFilter`. `built` are the fields that this version enforces. */
export function filters(built: ReadonlySet<string>): Schema {
  const fields: Readonly<Record<string, Schema>> = {
    requestHeaderModifier: headerFilter,
    responseHeaderModifier: headerFilter,
    requestMirror: object(
      {
        backendRef: backendReference("Who gets the copy."),
        percent: integer("How many of a hundred requests.", 0, 100),
        fraction: object(
          {
            numerator: integer("The numerator.", 0, Number.MAX_SAFE_INTEGER),
            denominator: integer("The denominator.", 1, Number.MAX_SAFE_INTEGER, { default: 100 }),
          },
          {
            required: ["numerator"],
            checks: [
              {
                message: "the numerator is at most the denominator",
                field: "numerator",
                holds: ({ numerator, denominator = 100 }) =>
                  typeof numerator !== "number" ||
                  typeof denominator !== "number" ||
                  numerator <= denominator,
                cel: "self.numerator <= (has(self.denominator) ? self.denominator : 100)",
              },
            ],
          },
        ),
      },
      { required: ["backendRef"], atMostOneOf: ["percent", "fraction"] },
    ),
    requestRedirect: object({
      scheme: choice("The scheme.", ["http", "https"]),
      hostname: preciseHostname,
      path: replacePath,
      port,
      statusCode: { type: "integer", enum: [301, 302, 303, 307, 308], default: 302 },
    }),
    urlRewrite: object({ hostname: preciseHostname, path: replacePath }),
    cors: object(corsFields),
    externalAuth: { type: "object" },
    extensionRef: localReference("A filter of another kind."),
  };
  const properties = Object.entries(fields).map(([name, schema]): [string, Schema] => [
    name,
    built.has(name) ? schema : { ...schema, unsupported: FILTER_WORDS[name] ?? name },
  ]);
  return list(
    object(
      { type: choice("What it does.", Object.keys(FILTERS)), ...Object.fromEntries(properties) },
      {
        required: ["type"],
        checks: Object.entries(FILTERS).map(([type, field]) => ({
          message: `"${field}" stands with type: ${type}, and only with it`,
          field,
          holds: (filter) => (filter.type === type) === Object.hasOwn(filter, field),
          cel: `(self.type == '${type}') == has(self.${field})`,
        })),
      },
    ),
    { maxItems: 16 },
  );
}

const FILTER_WORDS: Readonly<Record<string, string>> = {
  requestHeaderModifier: "request header modifiers",
  responseHeaderModifier: "response header modifiers",
  requestMirror: "mirroring",
  requestRedirect: "redirects",
  urlRewrite: "URL rewriting",
  cors: "CORS",
  externalAuth: "external authorization",
  extensionRef: "filters of other kinds",
};
