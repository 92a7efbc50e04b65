import {
  backendReference,
  localReference,
  port,
  preciseHostname,
} from "../../../schema/kubernetes-fields.ts";
import {
  anyText,
  choice,
  integer,
  list,
  object,
  type Schema,
  withUnsupported,
} from "../../../schema/schema.ts";
import { corsFields, headerFilter } from "./http.ts";

/** What of a path is replaced, and the field that says by what. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  ReplaceFullPath: "replaceFullPath",
  ReplacePrefixMatch: "replacePrefixMatch",
};

const replacePath = object(
  {
    type: choice("What is replaced.", ["ReplaceFullPath", "ReplacePrefixMatch"]),
    replaceFullPath: anyText({ maxLength: 1024 }),
    replacePrefixMatch: anyText({ maxLength: 1024 }),
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
const FILTERS = {
  RequestHeaderModifier: "requestHeaderModifier",
  ResponseHeaderModifier: "responseHeaderModifier",
  RequestMirror: "requestMirror",
  RequestRedirect: "requestRedirect",
  URLRewrite: "urlRewrite",
  CORS: "cors",
  ExternalAuth: "externalAuth",
  ExtensionRef: "extensionRef",
} as const;

const FILTER_TYPES = [
  ...([
    "RequestHeaderModifier",
    "ResponseHeaderModifier",
    "RequestMirror",
    "RequestRedirect",
  ] as const),
  ...(["URLRewrite", "CORS", "ExternalAuth", "ExtensionRef"] as const),
];

const redirectStatus: Schema<number> = {
  type: "integer",
  enum: [301, 302, 303, 307, 308],
  default: 302,
};

const anyObject: Schema = { type: "object" };

/** Gateway API `HTTPRouteFilter`. `built` are the fields that this version enforces. */
export function filters(built: ReadonlySet<string>) {
  const fields = {
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
      statusCode: redirectStatus,
    }),
    urlRewrite: object({ hostname: preciseHostname, path: replacePath }),
    cors: object(corsFields),
    externalAuth: anyObject,
    extensionRef: localReference("A filter of another kind."),
  };
  const properties = withUnsupported(fields, (name) =>
    built.has(name) ? undefined : (FILTER_WORDS[name] ?? name),
  );
  return list(
    object(
      { type: choice("What it does.", FILTER_TYPES), ...properties },
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
