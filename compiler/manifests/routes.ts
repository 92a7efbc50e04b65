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
  groupName,
  headerName,
  hostname,
  kindName,
  namespaceName,
  objectName,
  port,
  resource,
  sectionName,
} from "./field-types.ts";
import type { PolicyFields } from "./policy.ts";

const parentReference = object(
  {
    group: { ...groupName, default: "gateway.networking.k8s.io" },
    kind: { ...kindName, default: "Gateway" },
    name: objectName,
    namespace: namespaceName,
    sectionName,
    port,
  },
  { required: ["name"], hasParts: true },
);

/** Gateway API `ParentReference`. */
export type ParentReference = Infer<typeof parentReference>;

const parentRefs = listOfParts(parentReference, {
  maxItems: 32,
  description:
    "The Gateways or ListenerSets that it attaches to, or HTTPRoutes that may delegate to it.",
});

const hostnames = listOfParts(hostname, {
  maxItems: 16,
  description: "The hosts that it is for; without it all that its listeners have.",
});
const matchType = choice("How it is compared.", ["Exact", "RegularExpression"], {
  default: "Exact",
});
const valueMatch = (name: Schema<string>, maxLength: number) =>
  object(
    { type: matchType, name, value: text("The value.", { maxLength }) },
    { required: ["name", "value"] },
  );

/** Gateway API `HTTPHeaderMatch`, `HTTPQueryParamMatch`. */
export type HttpValueMatch = Infer<ReturnType<typeof valueMatch>>;

/** A share of what a reference to a backend gets. */
const weight = integer("Its share.", 0, 1_000_000, { default: 1 });

const streamBackend = object({ ...backendReferenceFields, weight }, { required: ["name"] });

/** A reference to a Service or a GatewayBackend, with its share. */
export type BackendReference = Infer<typeof streamBackend>;

/** A rule of an HTTPRoute. */
type HttpRouteRule = NonNullable<
  NonNullable<Infer<ReturnType<typeof httpRouteSchema>>["spec"]["rules"]>[number]
>;

/** What a rule of any kind of route has. */
export type RouteRule = Pick<HttpRouteRule, "name" | "filters" | "backendRefs">;

/** The filters of routes, which say what policies say. */
export interface RouteFilters {
  readonly ofRule: Schema<readonly PolicyFields[]>;
  readonly ofBackend: Schema<readonly PolicyFields[]>;
}

/** Gateway API HTTPRoute; policies have filters and fields of a rule. */
export function httpRouteSchema(filters: RouteFilters, ruleFields: Fields) {
  return requestRouteSchema({
    ...ruleFieldsOf(filters),
    matches: list(httpMatch, {
      maxItems: 64,
      description: "Which requests the rule is for: those of any of them.",
    }),
    ...ruleFields,
  });
}

/** What the rules of every route of requests have. */
function ruleFieldsOf({ ofRule, ofBackend }: RouteFilters) {
  return {
    name: sectionName,
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
          "Where its requests go, each with a share. An HTTPRoute alone hands them to routes: of a name, with a label (`app=shop`), or all of a namespace (`*`).",
      },
    ),
  };
}

/** A route of requests, with these fields in its rules. */
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
          description: "What is done with which requests.",
        }),
      },
      {
        hasParts: true,
        checks: [
          {
            message: "a rule's name is unique in its route",
            field: "rules",
            holds: ({ rules }) => hasUniqueNames(rules),
            cel: "!has(self.rules) || self.rules.all(r, !has(r.name) || self.rules.exists_one(s, has(s.name) && s.name == r.name))",
          },
        ],
      },
    ),
  );
}

/** Gateway API: policies and explanations name rules. */
function hasUniqueNames(rules: unknown): boolean {
  if (!Array.isArray(rules)) return true;
  const names = rules.flatMap((rule?: { readonly name?: unknown } | null) => rule?.name ?? []);
  return new Set(names).size === names.length;
}

/** The characters of a path (RFC 3986, 3.3), and what a normalised path does not have. */
const PATH = "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})*$";
const ODD_PATH = "//|/\\.\\.?(/|$)|%2[fF]";

const [path, oddPath] = [new RegExp(PATH), new RegExp(ODD_PATH)];

function isPlainPath(value: string): boolean {
  return path.test(value) && !oddPath.test(value);
}

const httpMatch = object({
  path: object(
    {
      type: choice("How it is compared.", ["Exact", "PathPrefix", "RegularExpression"], {
        default: "PathPrefix",
      }),
      value: anyText({
        maxLength: 1024,
        default: "/",
        description: "The path, its beginning in whole segments, or a pattern of RE2.",
      }),
    },
    {
      description: "What the path must be.",
      checks: [
        {
          message: "an exact path or a prefix starts with a slash",
          field: "value",
          holds: ({ type, value }) =>
            type === "RegularExpression" ||
            value === undefined ||
            scalarText(value).startsWith("/"),
          cel: "(has(self.type) && self.type == 'RegularExpression') || !has(self.value) || self.value.startsWith('/')",
        },
        {
          message:
            'an exact path or a prefix has no "//", "/./", "/../", "%2f", "?" or "#": no request would match it',
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
    description: "Headers, each with the value that it must have.",
  }),
  queryParams: list(valueMatch({ ...headerName, description: "The parameter's name." }, 1024), {
    maxItems: 16,
    description: "Parameters of the query, each with the value that it must have.",
  }),
});

/** Gateway API `HTTPRouteMatch`. */
export type HttpRouteMatch = Infer<typeof httpMatch>;

/** What an exact name of gRPC looks like (Gateway API GRPCMethodMatch). */
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
      description: "What is called.",
      checks: (["service", "method"] as const).map((field) => ({
        message: `an exact ${field} has letters, digits, "_"${field === "service" ? ' and "."' : ""}`,
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
    description: "Headers, each with the value that it must have.",
  }),
});

/** Gateway API `GRPCRouteMatch`. */
export type GrpcRouteMatch = Infer<typeof grpcMatch>;

/** Gateway API GRPCRoute; policies have filters and fields of a rule. */
export function grpcRouteSchema(filters: RouteFilters, ruleFields: Fields) {
  return requestRouteSchema({
    ...ruleFieldsOf(filters),
    ...ruleFields,
    matches: list(grpcMatch, {
      maxItems: 64,
      description: "Which calls the rule is for: those of any of them.",
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
              name: sectionName,
              backendRefs: listOfParts(streamBackend, {
                minItems: 1,
                maxItems: 16,
                description: "Where its connections go, each with a share.",
              }),
            },
            { required: ["backendRefs"], hasParts: true },
          ),
          { minItems: 1, maxItems: 16, description: "What is done with connections." },
        ),
      },
      { required: ["rules"], hasParts: true },
    ),
  );
}
