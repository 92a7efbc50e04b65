import { resolveConnection, secureUrl } from "../backends/parts/connection.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { backendReference } from "../manifests/field-types.ts";
import type { BackendPolicies } from "../model/backend-policies.ts";
import type { BackendConnection } from "../model/connections.ts";
import { forwardUrl } from "../model/host-url.ts";
import type { Text } from "../model/texts.ts";
import {
  type Infer,
  integer,
  object,
  type Schema,
  shortText,
  text,
  unsupported,
} from "../schema/schema.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** Where copies go, as configured. */
interface MirrorConfig {
  /** An address, or the name of a backend of the file. */
  readonly to: { readonly host: Text } | { readonly name: string };
  readonly policies?: BackendPolicies | undefined;
  readonly share: number;
  readonly origin: Origin;
}

/** Where copies go. */
interface MirrorNode {
  readonly url: Text;
  readonly connection: BackendConnection;
  readonly share: number;
  readonly origin: Origin;
}

/** `requestMirror` as configured. */
interface RequestMirrorConfig {
  readonly mirrors: readonly MirrorConfig[];
}

/** `requestMirror` resolved. */
interface RequestMirrorNode {
  readonly mirrors: readonly MirrorNode[];
}

const share: Schema<number> = {
  type: "number",
  minimum: 0,
  maximum: 1,
  default: 1,
  description: "The part of the requests that is copied: 0 to 1.",
};

const schema = object(
  {
    backend: object(
      {
        host: text("`host:port` or a URL.", { readAtStart: true, examples: ["127.0.0.1:8080"] }),
        service: unsupported("mesh services"),
        backend: shortText("The name of one of the file's `backends`."),
      },
      { exactlyOneOf: ["host", "service", "backend"], description: "Where the copies go." },
    ),
    percentage: share,
  },
  { required: ["backend"], description: "Copies of requests for another backend." },
);

/** Gateway API `HTTPRequestMirrorFilter`. */
const kubernetesSchema = object(
  {
    backendRef: backendReference("Who gets the copy."),
    percent: integer("How many of a hundred requests.", 0, 100),
    fraction: object(
      {
        numerator: integer("The numerator.", 0, Number.MAX_SAFE_INTEGER),
        denominator: integer("The denominator.", 1, Number.MAX_SAFE_INTEGER, { default: 100 }),
      },
      {
        required: ["numerator"],
        checks: [
          {
            message: "the numerator is at most the denominator",
            field: "numerator",
            holds: ({ numerator, denominator = 100 }) =>
              typeof numerator !== "number" ||
              typeof denominator !== "number" ||
              numerator <= denominator,
            cel: "self.numerator <= (has(self.denominator) ? self.denominator : 100)",
          },
        ],
      },
    ),
  },
  { required: ["backendRef"], atMostOneOf: ["percent", "fraction"] },
);

/** Copies requests to a second backend (Gateway API RequestMirror). */
export const requestMirror: Policy<
  "requestMirror",
  RequestMirrorConfig,
  RequestMirrorNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "requestMirror",
  summary:
    "sends a copy of a part of the requests to another backend, whose responses are thrown away",
  scope: ["route"],
  schema,
  actsOn: ["forwards"],
  names: ["mirror"],
  merge: "join",
  lower: ({ backend: { host, backend: name = "" }, percentage: share = 1 }, origin) => {
    const at = childOf(origin, "backend", host === undefined ? "backend" : "host");
    const to = host === undefined ? { name } : { host };
    return { mirrors: [{ to, share, origin: at }] };
  },
  kubernetes: {
    field: "filter.requestMirror",
    filter: "requestMirror",
    schema: kubernetesSchema,
    lower: ({ backendRef, percent, fraction }, { origin, server }) => {
      const at = childOf(origin, "backendRef");
      const found = server(backendRef, at);
      if (found === undefined) return undefined;
      const part = fraction && fraction.numerator / (fraction.denominator ?? 100);
      const share = Math.min(1, part ?? (percent ?? 100) / 100);
      return {
        mirrors: [{ to: { host: found.url }, policies: found.policies, share, origin: at }],
      };
    },
    join: (configs) => ({ mirrors: configs.flatMap(({ mirrors }) => mirrors) }),
  },
  resolve: ({ mirrors }, context) => {
    const resolved = mirrors.flatMap((each) => resolveMirror(each, context) ?? []);
    return resolved.length === mirrors.length ? { mirrors: resolved } : undefined;
  },
};

function resolveMirror(
  { to, policies, share, origin }: MirrorConfig,
  context: ResolveContext,
): MirrorNode | undefined {
  if ("host" in to) {
    const url = forwardUrl(to.host, origin, context.diagnostics);
    if (url === undefined) return undefined;
    const connection = resolveConnection(policies ?? {}, context);
    return { url: secureUrl(url, connection), connection, share, origin };
  }
  const found = context.namedServer(to.name, origin);
  if (found === undefined) return undefined;
  const { address, ...server } = found;
  return resolveMirror({ ...server, to: { host: address }, share }, context);
}
