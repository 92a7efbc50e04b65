import { localReference } from "../../../manifests/field-types.ts";
import { choice, type Fields, list, object, unsupported } from "../../../schema/schema.ts";
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

type FilterType = keyof typeof FILTERS;

const HTTP_FILTERS: readonly FilterType[] = [
  ...(["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror"] as const),
  ...(["RequestRedirect", "URLRewrite", "CORS", "ExternalAuth", "ExtensionRef"] as const),
];

/** Gateway API `HTTPRouteFilter`: policies say what filters hold. */
export function filters() {
  return filtersOf(HTTP_FILTERS, policyFilters());
}

const GRPC_FILTERS: readonly FilterType[] = [
  ...([
    "RequestHeaderModifier",
    "ResponseHeaderModifier",
    "RequestMirror",
    "ExtensionRef",
  ] as const),
];

/** Gateway API `GRPCRouteFilter`. */
export function grpcFilters() {
  const fields = GRPC_FILTERS.map((type) => FILTERS[type]);
  const known = Object.entries(policyFilters()).filter(([field]) =>
    fields.some((each) => each === field),
  );
  return filtersOf(GRPC_FILTERS, Object.fromEntries(known));
}

function filtersOf(types: readonly FilterType[], fields: Fields) {
  return list(
    object(
      {
        type: choice("What it does.", types),
        ...fields,
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
        checks: types.map((type) => {
          const field = FILTERS[type];
          return {
            message: `"${field}" stands with type: ${type}, and only with it`,
            field,
            holds: (filter) => (filter.type === type) === Object.hasOwn(filter, field),
            cel: `(self.type == '${type}') == has(self.${field})`,
          };
        }),
      },
    ),
    { maxItems: 16, description: "What is done with the rule's requests." },
  );
}
