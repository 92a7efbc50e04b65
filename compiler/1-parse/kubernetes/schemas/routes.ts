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
} from "../../../manifests/field-types.ts";
import { scalarText } from "../../../schema/config-values.ts";
import {
  anyText,
  choice,
  type Fields,
  integer,
  list,
  object,
  type Schema,
  text,
  unsupported,
} from "../../../schema/schema.ts";
import { policyRuleFields } from "../policy-fields.ts";
import { filters } from "./filters.ts";

/** Gateway API `ParentReference`. */
const parentRefs = list(
  object(
    {
      group: { ...groupName, default: "gateway.networking.k8s.io" },
      kind: { ...kindName, default: "Gateway" },
      name: objectName,
      namespace: namespaceName,
      sectionName,
      port,
    },
    { required: ["name"] },
  ),
  { maxItems: 32 },
);

const hostnames = list(hostname, { maxItems: 16 });
const matchType = choice("How it is compared.", ["Exact", "RegularExpression"], {
  default: "Exact",
});
const valueMatch = (name: Schema<string>, maxLength: number) =>
  object(
    { type: matchType, name, value: text("The value.", { maxLength }) },
    {
      required: ["name", "value"],
    },
  );

/** Gateway API HTTPRoute. */
export function httpRouteSchema() {
  const rule = object({
    name: sectionName,
    matches: list(httpMatch, { maxItems: 64 }),
    filters: filters(),
    backendRefs: list(
      object(
        {
          ...backendReferenceFields,
          weight: integer("Its share.", 0, 1_000_000, { default: 1 }),
          filters: unsupported("filters of one backend", list({ type: "object" })),
        },
        { required: ["name"] },
      ),
      { maxItems: 16 },
    ),
    ...policyRuleFields(),
    sessionPersistence: unsupported("session persistence", { type: "object" }),
  });
  return resource(
    object(
      {
        parentRefs,
        useDefaultGateways: unsupported("default gateways"),
        hostnames,
        rules: list(rule, { minItems: 1, maxItems: 16 }),
      },
      {
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
  const names = rules.flatMap((rule: { readonly name?: unknown } | null) => rule?.name ?? []);
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
      value: anyText({ maxLength: 1024, default: "/" }),
    },
    {
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
  headers: list(valueMatch(headerName, 4096), { maxItems: 16 }),
  queryParams: list(valueMatch({ ...headerName, description: "The parameter's name." }, 1024), {
    maxItems: 16,
  }),
});

const looseBackends = list(
  object(
    {
      ...backendReferenceFields,
      weight: integer("Its share.", 0, 1_000_000, { default: 1 }),
      filters: list({ type: "object" }),
    },
    { required: ["name"] },
  ),
  { maxItems: 16 },
);

/** Gateway API GRPCRoute. */
export const grpcRouteSchema = resource(
  object({
    parentRefs,
    useDefaultGateways: unsupported("default gateways"),
    hostnames,
    rules: list(
      object({
        name: sectionName,
        matches: list(
          object({
            method: object(
              {
                type: matchType,
                service: anyText({ maxLength: 1024 }),
                method: anyText({ maxLength: 1024 }),
              },
              { atLeastOneOf: ["service", "method"] },
            ),
            headers: list(valueMatch(headerName, 4096), { maxItems: 16 }),
          }),
          { maxItems: 64 },
        ),
        filters: list({ type: "object" }, { maxItems: 16 }),
        backendRefs: looseBackends,
        sessionPersistence: { type: "object" },
      }),
      { maxItems: 16 },
    ),
  }),
);

const streamBackends = list(
  object(
    {
      ...backendReferenceFields,
      weight: integer("Its share.", 0, 1_000_000, { default: 1 }),
    },
    { required: ["name"] },
  ),
  { minItems: 1, maxItems: 16 },
);

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
        rules: list(
          object({ name: sectionName, backendRefs: streamBackends }, { required: ["backendRefs"] }),
          { minItems: 1, maxItems: 16 },
        ),
      },
      { required: ["rules"] },
    ),
  );
}
