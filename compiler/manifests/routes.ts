import { scalarText } from "../schema/config-values.ts";
import {
  anyText,
  choice,
  type Fields,
  type Infer,
  integer,
  list,
  listOfParts,
  object,
  type Schema,
  text,
  unsupported,
} from "../schema/schema.ts";
import {
  backendReferenceFields,
  declaredSection,
  groupName,
  headerName,
  hostname,
  kindName,
  nameOf,
  namespaceName,
  port,
  resource,
  sectionReference,
} from "./field-types.ts";
import type { PolicyFields } from "./policy.ts";

const parentReference = object(
  {
    group: { ...groupName, default: "gateway.networking.k8s.io" },
    kind: { ...kindName, default: "Gateway" },
    name: nameOf("Gateway", "ListenerSet", "HTTPRoute"),
    namespace: namespaceName,
    sectionName: sectionReference,
    port,
  },
  { required: ["name"], hasParts: true },
);

/** Gateway API `ParentReference`. */
export type ParentReference = Infer<typeof parentReference>;

/** Returns the schema of the parents of a resource. */
export function parentReferences(maxItems: number, description: string) {
  return listOfParts(parentReference, { maxItems, description });
}

const parentRefs = parentReferences(
  32,
  "Gateways or ListenerSets that it attaches to, or HTTPRoutes that may delegate to it.",
);

const hostnames = listOfParts(hostname, {
  maxItems: 16,
  description: "Hostnames that it serves; those of its listeners by default.",
});
const matchType = choice("Type of the comparison.", ["Exact", "RegularExpression"], {
  default: "Exact",
});
const valueMatch = (name: Schema<string>, maxLength: number) =>
  object(
    { type: matchType, name, value: text("The value.", { maxLength }) },
    { required: ["name", "value"] },
  );

/** Gateway API `HTTPHeaderMatch`, `HTTPQueryParamMatch`. */
export type HttpValueMatch = Infer<ReturnType<typeof valueMatch>>;

/** Weight of a reference to a backend. */
const weight = integer("Weight.", 0, 1_000_000, { default: 1 });

const streamBackend = object({ ...backendReferenceFields, weight }, { required: ["name"] });

/** A weighted reference to a Service or a GatewayBackend. */
export type BackendReference = Infer<typeof streamBackend>;

/** A rule of an HTTPRoute. */
type HttpRouteRule = NonNullable<
  NonNullable<Infer<ReturnType<typeof httpRouteSchema>>["spec"]["rules"]>[number]
>;

/** Common fields of the rules of all routes. */
export type RouteRule = Pick<HttpRouteRule, "name" | "filters" | "backendRefs">;

/** Filters of routes, whose settings policies define. */
export interface RouteFilters {
  readonly ofRule: Schema<readonly PolicyFields[]>;
  readonly ofBackend: Schema<readonly PolicyFields[]>;
}

/** Returns the schema of Gateway API HTTPRoute; policies define filters and some fields of a rule. */
export function httpRouteSchema(filters: RouteFilters, ruleFields: Fields) {
  return requestRouteSchema({
    ...ruleFieldsOf(filters),
    matches: list(httpMatch, {
      maxItems: 64,
      description: "Alternative conditions for requests of the rule.",
    }),
    ...ruleFields,
  });
}

/** Returns the common rule fields of request routes. */
function ruleFieldsOf({ ofRule, ofBackend }: RouteFilters) {
  return {
    name: declaredSection,
    filters: ofRule,
    backendRefs: listOfParts(
      object(
        {
          ...backendReferenceFields,
          weight,
          filters: ofBackend,
        },
        { required: ["name"] },
      ),
      {
        maxItems: 16,
        description:
          "Weighted backends. A single HTTPRoute delegates the requests to routes: by name, by label (`app=shop`), or to all of a namespace (`*`).",
      },
    ),
  };
}

/** Returns the schema of a request route with these fields in its rules. */
function requestRouteSchema<const Of extends Fields>(fields: Of) {
  return resource(
    object(
      {
        parentRefs,
        useDefaultGateways: unsupported("default gateways"),
        hostnames,
        rules: listOfParts(object(fields, { hasParts: true }), {
          minItems: 1,
          maxItems: 16,
          description: "Rules for requests.",
        }),
      },
      {
        hasParts: true,
        checks: [
          {
            message: "names of rules must be unique in a route",
            field: "rules",
            holds: ({ rules }) => hasUniqueNames(rules),
            cel: "!has(self.rules) || self.rules.all(r, !has(r.name) || self.rules.exists_one(s, has(s.name) && s.name == r.name))",
          },
        ],
      },
    ),
  );
}

/** Whether rules have unique names (Gateway API), because policies and explanations refer to rules by name. */
function hasUniqueNames(rules: unknown): boolean {
  if (!Array.isArray(rules)) return true;
  const names = rules.flatMap((rule?: { readonly name?: unknown } | null) => rule?.name ?? []);
  return new Set(names).size === names.length;
}

/** Characters of a path (RFC 3986, 3.3), and parts that a normalized path cannot have. */
const PATH = "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})*$";
const ODD_PATH = "//|/\\.\\.?(/|$)|%2[fF]";

const [path, oddPath] = [new RegExp(PATH), new RegExp(ODD_PATH)];

function isPlainPath(value: string): boolean {
  return path.test(value) && !oddPath.test(value);
}

const httpMatch = object({
  path: object(
    {
      type: choice("Type of the comparison.", ["Exact", "PathPrefix", "RegularExpression"], {
        default: "PathPrefix",
      }),
      value: anyText({
        maxLength: 1024,
        default: "/",
        description: "Path, prefix in whole segments, or RE2 pattern.",
      }),
    },
    {
      description: "Condition on the path.",
      checks: [
        {
          message: "an exact path or a prefix must start with a slash",
          field: "value",
          holds: ({ type, value }) =>
            type === "RegularExpression" ||
            value === undefined ||
            scalarText(value).startsWith("/"),
          cel: "(has(self.type) && self.type == 'RegularExpression') || !has(self.value) || self.value.startsWith('/')",
        },
        {
          message:
            'an exact path or a prefix must not contain "//", "/./", "/../", "%2f", "?" or "#": no request would match it',
          field: "value",
          holds: ({ type, value }) =>
            type === "RegularExpression" || value === undefined || isPlainPath(scalarText(value)),
          cel: `(has(self.type) && self.type == 'RegularExpression') || !has(self.value) || (self.value.matches(r"""${PATH}""") && !self.value.matches(r"""${ODD_PATH}"""))`,
        },
      ],
    },
  ),
  method: choice("The method.", [
    ...["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"],
  ]),
  headers: list(valueMatch(headerName, 4096), {
    maxItems: 16,
    description: "Conditions on headers.",
  }),
  queryParams: list(valueMatch({ ...headerName, description: "The parameter's name." }, 1024), {
    maxItems: 16,
    description: "Conditions on query parameters.",
  }),
});

/** Gateway API `HTTPRouteMatch`. */
export type HttpRouteMatch = Infer<typeof httpMatch>;

/** Patterns of exact gRPC names (Gateway API GRPCMethodMatch). */
const GRPC_NAMES = {
  service: "^[A-Za-z_][A-Za-z_0-9]*(\\.[A-Za-z_][A-Za-z_0-9]*)*$",
  method: "^[A-Za-z_][A-Za-z_0-9]*$",
} as const;

const grpcMatch = object({
  method: object(
    {
      type: matchType,
      service: text("The service, with its package: `shop.v1.Orders`.", { maxLength: 1024 }),
      method: text("The method.", { maxLength: 1024 }),
    },
    {
      atLeastOneOf: ["service", "method"],
      description: "Condition on the called method.",
      checks: (["service", "method"] as const).map((field) => ({
        message: `an exact ${field} may contain letters, digits, "_"${field === "service" ? ' and "."' : ""}`,
        field,
        holds: ({ type, [field]: value }) =>
          type === "RegularExpression" ||
          value === undefined ||
          new RegExp(GRPC_NAMES[field]).test(scalarText(value)),
        cel: `(has(self.type) && self.type == 'RegularExpression') || !has(self.${field}) || self.${field}.matches(r"""${GRPC_NAMES[field]}""")`,
      })),
    },
  ),
  headers: list(valueMatch(headerName, 4096), {
    maxItems: 16,
    description: "Conditions on headers.",
  }),
});

/** Gateway API `GRPCRouteMatch`. */
export type GrpcRouteMatch = Infer<typeof grpcMatch>;

/** Returns the schema of Gateway API GRPCRoute; policies define filters and some fields of a rule. */
export function grpcRouteSchema(filters: RouteFilters, ruleFields: Fields) {
  return requestRouteSchema({
    ...ruleFieldsOf(filters),
    ...ruleFields,
    matches: list(grpcMatch, {
      maxItems: 64,
      description: "Alternative conditions for calls of the rule.",
    }),
  });
}

/** Gateway API TCPRoute. */
export const tcpRouteSchema = streamRouteSchema({});

/** Gateway API TLSRoute. */
export const tlsRouteSchema = streamRouteSchema({ hostnames });

function streamRouteSchema<const Of extends Fields>(fields: Of) {
  return resource(
    object(
      {
        parentRefs,
        useDefaultGateways: unsupported("default gateways"),
        ...fields,
        rules: listOfParts(
          object(
            {
              name: declaredSection,
              backendRefs: listOfParts(streamBackend, {
                minItems: 1,
                maxItems: 16,
                description: "Weighted backends.",
              }),
            },
            { required: ["backendRefs"], hasParts: true },
          ),
          { minItems: 1, maxItems: 16, description: "Rules for connections." },
        ),
      },
      { required: ["rules"], hasParts: true },
    ),
  );
}
