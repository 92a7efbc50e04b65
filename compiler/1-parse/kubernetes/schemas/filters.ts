import { kubernetesHeaderChangesSchema } from "../../../backends/parts/header-changes.ts";
import { localReference } from "../../../manifests/field-types.ts";
import type { RouteFilters } from "../../../manifests/routes.ts";
import {
  choice,
  type Fields,
  list,
  object,
  type Schema,
  unsupported,
} from "../../../schema/schema.ts";
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
export function httpFilters(): RouteFilters {
  return {
    ofRule: filtersOf(HTTP_FILTERS, policyFilters(), "What is done with the rule's requests."),
    ofBackend: backendFilters(HTTP_FILTERS),
  };
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
export function grpcFilters(): RouteFilters {
  const fields = GRPC_FILTERS.map((type) => FILTERS[type]);
  const known = Object.entries(policyFilters()).filter(([field]) =>
    fields.some((each) => each === field),
  );
  const what = "What is done with the rule's calls.";
  return {
    ofRule: filtersOf(GRPC_FILTERS, Object.fromEntries(known), what),
    ofBackend: backendFilters(GRPC_FILTERS),
  };
}

/** The filters of one backend that are built. */
const BACKEND_FILTERS: Fields = {
  requestHeaderModifier: kubernetesHeaderChangesSchema,
  responseHeaderModifier: kubernetesHeaderChangesSchema,
};

/** The filters of a reference to a backend: what is done with the messages of that backend alone. */
function backendFilters(types: readonly FilterType[]) {
  const fields = types.map((type): readonly [string, Schema] => {
    const field = FILTERS[type];
    return [field, BACKEND_FILTERS[field] ?? unsupported(`filters of one backend of type ${type}`)];
  });
  const what = "What is done with the messages of this backend alone, after the rule's filters.";
  return filtersOf(types, Object.fromEntries(fields), what);
}

function filtersOf(types: readonly FilterType[], fields: Fields, description: string) {
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
    { maxItems: 16, description },
  );
}
