import { TOKEN_PATTERN } from "../backends/parts/header-fields.ts";
import { childOf } from "../diagnostics/diagnostic.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import { parseDuration } from "../schema/duration.ts";
import {
  boolean,
  duration,
  type Infer,
  integer,
  list,
  object,
  shortText,
} from "../schema/schema.ts";
import { bothForms, formFields } from "../schema/two-forms.ts";
import { canonicalOrigin } from "./parts/canonical-origin.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** `cors` as configured. */
export interface CorsConfig {
  readonly allowOrigins: readonly string[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly allowCredentials: boolean;
  /** Written as a Gateway API filter, which may combine `*` with credentials. */
  readonly isGatewayApi: boolean;
  /** Seconds; `undefined` if the header is not sent. */
  readonly maxAge: number | undefined;
}

/** `cors` resolved: canonical origins, and response header values (`undefined` if a header is not sent). */
export interface CorsNode {
  readonly isAnyOrigin: boolean;
  readonly origins: readonly string[];
  /** `https://*.example.com` split at the star. */
  readonly originPatterns: readonly { readonly start: string; readonly end: string }[];
  readonly response: {
    readonly allowMethods: string | undefined;
    readonly allowHeaders: string | undefined;
    readonly exposeHeaders: string | undefined;
    readonly allowCredentials: boolean;
    readonly maxAge: string | undefined;
  };
}

const ORIGIN = "^(\\*|null|[a-z][a-z0-9+.-]*://(\\*\\.)?[^\\s/*?#@]+)$";

/** Methods and header names (RFC 9110, 5.6.2); `*` is one of them. */
const METHOD = { pattern: TOKEN_PATTERN, form: 'a method such as "GET", or "*"' };
const HEADER = { pattern: TOKEN_PATTERN, form: 'a header name such as "x-team", or "*"' };

const CREDENTIALS = "Whether pages may send cookies and credentials.";

const ORIGINS = "Origins whose pages may read the responses.";

const origin = bothForms(
  shortText("`https://app.example.com`, `https://*.example.com`, or `*`.", {
    pattern: ORIGIN,
    form: 'an origin such as "https://app.example.com" or "https://*.example.com", or "*"',
  }),
  { manifest: { maxLength: 253 } },
);

/** Fields of files, and of Gateway API's `HTTPCORSFilter`. */
const fields = {
  allowOrigins: {
    file: list(origin.file, { minItems: 1, description: ORIGINS }),
    manifest: list(origin.manifest, { maxItems: 64, description: ORIGINS }),
  },
  allowMethods: bothForms(
    list(shortText("A method, or `*`.", METHOD), {
      description: "Methods that a preflight allows.",
    }),
    { manifest: { maxItems: 9 } },
  ),
  allowHeaders: bothForms(
    list(shortText("A header name, or `*`.", HEADER), {
      description: "Request headers that a preflight allows.",
    }),
    { manifest: { maxItems: 64 } },
  ),
  exposeHeaders: bothForms(
    list(shortText("A header name, or `*`.", HEADER), {
      description: "Response headers that pages may read.",
    }),
    { manifest: { maxItems: 64 } },
  ),
  allowCredentials: bothForms(boolean(CREDENTIALS), {
    file: { description: `${CREDENTIALS} Not allowed with the origin \`*\`.` },
    manifest: {
      description:
        `${CREDENTIALS} With the origin \`*\`, responses name each page's origin, as Gateway API's conformance requires ` +
        "(HTTPRouteCORSAllowCredentialsBehavior); this is a warning, and an error with `--strict`.",
    },
  }),
  maxAge: {
    file: duration("How long browsers may cache a preflight response, in whole seconds."),
    manifest: integer(
      "How many seconds browsers may cache a preflight response.",
      1,
      2_147_483_647,
      {
        default: 5,
      },
    ),
  },
};

const schema = object(formFields("file", fields), {
  required: ["allowOrigins"],
  description: "Cross-origin resource sharing.",
});

const kubernetesSchema = object(formFields("manifest", fields));

/**
 * Answers preflights and adds the headers that let pages of allowed origins read responses (Fetch standard, CORS
 * protocol).
 */
export const cors: Policy<
  "cors",
  CorsConfig,
  CorsNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "cors",
  summary:
    "answers preflights before authentication and adds CORS headers to responses for the allowed origins",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    servesPreflights: true,
  },
  schema,
  names: ["cors"],
  access: {
    direction: "opens",
    preflightHeaders: ({ allowHeaders }) => allowHeaders.map((name) => name.toLowerCase()),
    compare: { changes: compareCors, rest: ({ response: { maxAge } }) => ({ maxAge }) },
  },
  lowering: {
    merge: "replace",
    lower: lowerCors,
    resolve: resolveCors,
  },
  kubernetes: {
    field: "traffic.cors",
    filter: "cors",
    schema: kubernetesSchema,
    lower: lowerKubernetesCors,
  },
};

function resolveCors(config: CorsConfig, { origin, diagnostics }: ResolveContext): CorsNode {
  const origins = config.allowOrigins.map(canonicalOrigin);
  const isAnyOrigin = origins.includes("*");
  if (isAnyOrigin && config.allowCredentials) {
    const code = config.isGatewayApi ? "open-credentials-by-request" : "open-credentials";
    diagnostics.report(code, childOf(origin, "allowCredentials"), {});
  }
  return {
    isAnyOrigin,
    origins: origins.filter((origin) => !origin.includes("*")),
    originPatterns: origins
      .filter((origin) => origin !== "*" && origin.includes("*"))
      .map((origin) => {
        const [start = "", end = ""] = origin.split("*");
        return { start, end };
      }),
    response: {
      allowMethods: joined(config.allowMethods),
      allowHeaders: joined(config.allowHeaders),
      exposeHeaders: joined(config.exposeHeaders),
      allowCredentials: config.allowCredentials,
      maxAge: config.maxAge?.toString(),
    },
  };
}

/** Compares which pages may read responses. */
function compareCors(before: CorsNode, after: CorsNode): readonly SettingsChange[] {
  const origins = ({ isAnyOrigin, origins: exact, originPatterns }: CorsNode) => [
    ...(isAnyOrigin ? ["*"] : []),
    ...exact,
    ...originPatterns.map(({ start, end }) => `${start}*${end}`),
  ];
  const listed = (names: string | undefined) => names?.split(", ") ?? [];
  const [old, now] = [before.response, after.response];
  const fields = ["allowMethods", "allowHeaders", "exposeHeaders"] as const;
  return [
    ...listChanges("origin", origins(before), origins(after), "opens", coversOrigin),
    ...fields.flatMap((field) =>
      listChanges(field, listed(old[field]), listed(now[field]), "opens", coversName),
    ),
    ...credentialChanges(old.allowCredentials, now.allowCredentials),
  ];
}

/** Whether origin or pattern `wide` includes everything that `narrow` matches. */
function coversOrigin(wide: string, narrow: string): boolean {
  if (wide === "*" || wide === narrow) return true;
  const [start = "", end] = wide.split("*");
  if (end === undefined || !narrow.startsWith(start) || !narrow.endsWith(end)) return false;
  const labels = narrow.slice(start.length, narrow.length - end.length);
  return labels !== "" && !labels.includes(":");
}

function coversName(wide: string, narrow: string): boolean {
  return wide === "*" || wide === narrow;
}

function joined(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return names.includes("*") ? "*" : names.join(", ");
}

function lowerCors({ maxAge, ...given }: Infer<typeof schema>): CorsConfig {
  const milliseconds = maxAge === undefined ? undefined : parseDuration(maxAge);
  return {
    ...NO_CORS,
    ...given,
    isGatewayApi: false,
    maxAge: milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000),
  };
}

/** Reads Gateway API's `HTTPCORSFilter`, whose `maxAge` is in seconds and defaults to 5. */
function lowerKubernetesCors(given: Infer<typeof kubernetesSchema>): CorsConfig {
  return { ...NO_CORS, maxAge: 5, ...given, isGatewayApi: true };
}

const NO_CORS: Omit<CorsConfig, "maxAge" | "isGatewayApi"> = {
  allowOrigins: [],
  allowMethods: [],
  allowHeaders: [],
  exposeHeaders: [],
  allowCredentials: false,
};

function credentialChanges(before: boolean, after: boolean): readonly SettingsChange[] {
  if (before === after) return [];
  return [
    after
      ? { direction: "opens", text: "pages may send credentials" }
      : { direction: "closes", text: "pages may not send credentials" },
  ];
}
