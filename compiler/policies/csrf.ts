import { crossSitePage } from "../../runtime/policies/csrf/cross-site.ts";
import { listChanges } from "../model/access.ts";
import { type Infer, list, object, shortText } from "../schema/schema.ts";
import { canonicalOrigin } from "./parts/canonical-origin.ts";
import type { Policy } from "./policy.ts";

/** `csrf` as configured. */
interface CsrfConfig {
  readonly additionalOrigins: readonly string[];
}

const schema = object(
  {
    additionalOrigins: list(
      shortText("`https://app.example.com`", {
        pattern: "^[a-z][a-z0-9+.\\-]*://[^\\s/*?#@]+$",
        form: 'an origin such as "https://app.example.com"',
      }),
      {
        minItems: 1,
        maxItems: 16,
        description: "Origins whose pages may send requests, besides the gateway's own.",
      },
    ),
  },
  { description: "Protection against cross-site request forgery." },
);

const kubernetesSchema = object({
  additionalOrigins: list(shortText("`SCHEME://HOST` or `SCHEME://HOST:PORT`."), {
    minItems: 1,
    maxItems: 16,
    description: "Origins whose pages may send requests, besides the gateway's own.",
  }),
});

/** Refuses state-changing requests that a browser makes for another site's page. */
export const csrf: Policy<
  "csrf",
  CsrfConfig,
  CsrfConfig,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "csrf",
  summary:
    "refuses with 403 what a browser sends for a page of another site (Sec-Fetch-Site, else Origin against Host)",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  names: ["csrf"],
  direction: "closes",
  access: ({ additionalOrigins }) => [
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
        return page && `a page of another site has sent it: ${page}`;
      },
    },
  ],
  compare: {
    changes: (before, after) =>
      listChanges("origin", before.additionalOrigins, after.additionalOrigins, "opens"),
    rest: () => undefined,
  },
  merge: "replace",
  lower: ({ additionalOrigins = [] }) => ({ additionalOrigins }),
  kubernetes: {
    field: "traffic.csrf",
    schema: kubernetesSchema,
    lower: ({ additionalOrigins = [] }) => ({ additionalOrigins }),
  },
  resolve: ({ additionalOrigins }) => ({
    additionalOrigins: additionalOrigins.map(canonicalOrigin),
  }),
};
