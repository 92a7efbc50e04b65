import { crossSitePage } from "../../runtime/policies/csrf/cross-site.ts";
import { listChanges } from "../model/access.ts";
import { type Infer, list, object, type Schema, shortText } from "../schema/schema.ts";
import { canonicalOrigin } from "./parts/canonical-origin.ts";
import type { Policy } from "./policy.ts";

/** `csrf` as configured. */
interface CsrfConfig {
  readonly additionalOrigins: readonly string[];
}

/** Returns the schema of a form; `origin` is that of an origin, whose format the specification leaves open. */
const csrfSchema = (origin: Schema<string>, minItems: number) =>
  object(
    {
      additionalOrigins: list(origin, {
        minItems,
        maxItems: 16,
        description: "Origins whose pages may send requests, in addition to the gateway's own.",
      }),
    },
    { description: "Protects against cross-site request forgery." },
  );

const schema = csrfSchema(
  shortText("`https://app.example.com`", {
    pattern: "^[a-z][a-z0-9+.\\-]*://[^\\s/*?#@]+$",
    form: 'an origin such as "https://app.example.com"',
  }),
  0,
);

const kubernetesSchema = csrfSchema(shortText("`SCHEME://HOST` or `SCHEME://HOST:PORT`."), 1);

/** Refuses state-changing requests that browsers send on behalf of other sites' pages. */
export const csrf: Policy<
  "csrf",
  CsrfConfig,
  CsrfConfig,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "csrf",
  summary:
    "refuses cross-site browser requests with 403 (by Sec-Fetch-Site, or else Origin compared with Host)",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
  },
  schema,
  names: ["csrf"],
  access: {
    direction: "closes",
    checks: ({ additionalOrigins }) => [
      {
        kind: "outside",
        what: "refuses pages of other sites in browsers",
        decidesWho: false,
        reads: { headers: ["sec-fetch-site", "origin"] },
        refusal: ({ method, host, headers }) => {
          const { "sec-fetch-site": site, origin } = headers;
          const page = crossSitePage(
            { methods: [method], host, site, origin },
            new Set(additionalOrigins),
          );
          return page && `sent by a page of another site: ${page}`;
        },
      },
    ],
    compare: {
      changes: (before, after) =>
        listChanges("origin", before.additionalOrigins, after.additionalOrigins, "opens"),
      rest: () => undefined,
    },
  },
  lowering: {
    merge: "replace",
    lower: ({ additionalOrigins = [] }) => ({ additionalOrigins }),
    resolve: ({ additionalOrigins }) => ({
      additionalOrigins: additionalOrigins.map(canonicalOrigin),
    }),
  },
  kubernetes: {
    field: "traffic.csrf",
    schema: kubernetesSchema,
    lower: ({ additionalOrigins = [] }) => ({ additionalOrigins }),
  },
};
