import {
  groupName,
  kindName,
  objectName,
  resource,
  sectionName,
} from "../../../schema/kubernetes-fields.ts";
import {
  anyText,
  choice,
  type Fields,
  list,
  map,
  object,
  withUnsupported,
} from "../../../schema/schema.ts";
import { backendPolicies, type SupportedFields } from "./backend.ts";
import { frontendFields } from "./frontend.ts";
import { trafficFields } from "./traffic.ts";

const target = object(
  { group: groupName, kind: kindName, name: objectName, sectionName },
  { required: ["group", "kind", "name"] },
);

const targetSelector = object(
  {
    group: groupName,
    kind: kindName,
    matchLabels: map(anyText({ maxLength: 63 })),
    sectionName,
  },
  { required: ["group", "kind", "matchLabels"] },
);

/** What each field of `traffic` and `frontend` is called in a message that it is not built. */
const WORDS: Readonly<Record<string, string>> = {
  transformation: "transformations",
  extProc: "external processing",
  extAuth: "external authorization",
  rateLimit: "rate limits",
  cors: "CORS",
  csrf: "CSRF protection",
  headerModifiers: "header modifiers",
  hostRewrite: "host rewriting",
  timeouts: "timeouts",
  retry: "retries",
  authorization: "authorization",
  jwtAuthentication: "JWT authentication",
  basicAuthentication: "basic authentication",
  apiKeyAuthentication: "API keys",
  directResponse: "direct responses",
  tcp: "TCP settings of clients",
  tls: "TLS settings of listeners",
  http: "HTTP settings of listeners",
  accessLog: "changed access logs",
  tracing: "tracing",
};

/** PreRouting rules run before the route is chosen, and may change which one it is. */
const PHASES = choice("Before or after the route is chosen.", ["PreRouting", "PostRouting"], {
  default: "PostRouting",
});

/** GatewayPolicy; `built` are the fields that this version enforces, such as `traffic.cors`. */
export function policySchema(built: SupportedFields) {
  const section = <Of extends Fields>(name: string, fields: Of): Of =>
    withUnsupported(fields, (field) =>
      built.has(`${name}.${field}`) ? undefined : (WORDS[field] ?? field),
    );
  const backend = new Set(
    [...built].filter((each) => each.startsWith("backend.")).map((each) => each.slice(8)),
  );
  return resource(
    object(
      {
        targetRefs: list(target, { minItems: 1, maxItems: 16 }),
        targetSelectors: list(targetSelector, { minItems: 1, maxItems: 16 }),
        frontend: object(section("frontend", frontendFields)),
        traffic: object({ phase: PHASES, ...section("traffic", trafficFields) }),
        backend: backendPolicies(["tcp", "tls", "http", "auth", "mcp", "ai"], backend),
      },
      {
        exactlyOneOf: ["targetRefs", "targetSelectors"],
      },
    ),
  );
}
