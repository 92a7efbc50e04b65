import { localReference } from "../../../manifests/field-types.ts";
import { choice, list, object, unsupported } from "../../../schema/schema.ts";
import { policyFilters } from "../policy-fields.ts";

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

/** Gateway API `HTTPRouteFilter`: policies say what filters hold. */
export function filters() {
  return list(
    object(
      {
        type: choice("What it does.", FILTER_TYPES),
        ...policyFilters(),
        externalAuth: unsupported("external authorization", { type: "object" }),
        extensionRef: unsupported(
          "filters of other kinds",
          localReference("A filter of another kind."),
        ),
      },
      {
        required: ["type"],
        examples: [
          { type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x-debug"] } },
        ],
        checks: Object.entries(FILTERS).map(([type, field]) => ({
          message: `"${field}" stands with type: ${type}, and only with it`,
          field,
          holds: (filter) => (filter.type === type) === Object.hasOwn(filter, field),
          cel: `(self.type == '${type}') == has(self.${field})`,
        })),
      },
    ),
    { maxItems: 16, description: "What is done with the rule's requests." },
  );
}
