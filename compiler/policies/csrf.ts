import { list, object, shortText } from "../schema/schema.ts";
import { canonicalOrigin } from "./parts/canonical-origin.ts";
import type { Policy } from "./policy.ts";

/** `csrf` as configured. */
interface CsrfConfig {
  readonly additionalOrigins: readonly string[];
}

/** Refuses state-changing requests that a browser makes for another site's page. */
export const csrf: Policy<"csrf", CsrfConfig, CsrfConfig> = {
  kind: "csrf",
  summary:
    "refuses with 403 what a browser sends for a page of another site (Sec-Fetch-Site, else Origin against Host)",
  scope: ["listener", "route"],
  schema: object(
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
  ),
  names: ["csrf"],
  merge: "replace",
  read: (value) => {
    const given = value as { readonly additionalOrigins?: readonly string[] };
    return { additionalOrigins: given.additionalOrigins ?? [] };
  },
  kubernetes: {
    field: "traffic.csrf",
    read: (value) => {
      const given = value as { readonly additionalOrigins?: readonly string[] };
      return { additionalOrigins: given.additionalOrigins ?? [] };
    },
  },
  resolve: ({ additionalOrigins }) => ({
    additionalOrigins: additionalOrigins.map(canonicalOrigin),
  }),
};
