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

/** Types of filters, with the field of their settings. */
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

/** Filters of Gateway API's `HTTPRouteFilter`; policies define their settings. */
export function httpFilters(): RouteFilters {
  return {
    ofRule: filtersOf(HTTP_FILTERS, policyFilters(), "Filters of the requests of the rule."),
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

/** Filters of Gateway API's `GRPCRouteFilter`. */
export function grpcFilters(): RouteFilters {
  const fields = GRPC_FILTERS.map((type) => FILTERS[type]);
  const known = Object.entries(policyFilters()).filter(([field]) =>
    fields.some((each) => each === field),
  );
  const what = "Filters of the calls of the rule.";
  return {
    ofRule: filtersOf(GRPC_FILTERS, Object.fromEntries(known), what),
    ofBackend: backendFilters(GRPC_FILTERS),
  };
}

/** Supported filters of a single backend. */
const BACKEND_FILTERS: Fields = {
  requestHeaderModifier: kubernetesHeaderChangesSchema,
  responseHeaderModifier: kubernetesHeaderChangesSchema,
};

/** Returns the filters of a reference to a backend, which apply to the messages of that backend only. */
function backendFilters(types: readonly FilterType[]) {
  const fields = types.map((type): readonly [string, Schema] => {
    const field = FILTERS[type];
    return [field, BACKEND_FILTERS[field] ?? unsupported(`filters of one backend of type ${type}`)];
  });
  const what = "Filters of the messages of this backend only, after those of the rule.";
  return filtersOf(types, Object.fromEntries(fields), what);
}

function filtersOf(types: readonly FilterType[], fields: Fields, description: string) {
  return list(
    object(
      {
        type: choice("Type of the filter.", types),
        ...fields,
        extensionRef: unsupported(
          "filters of other kinds",
          localReference("", "A filter of another kind."),
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
            message: `"${field}" and type: ${type} require each other`,
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
