import type { ConfigValue } from "../1-parse/values.ts";
import { resolveConnection, secureUrl } from "../backends/parts/connection.ts";
import type { BackendPolicies } from "../config/backend-policies.ts";
import { hostUrl } from "../config/host-url.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../ir/connections.ts";
import type { Text } from "../ir/texts.ts";
import { object, shortText, text, unsupported } from "../schema/schema.ts";
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

/** Copies requests to a second backend (Gateway API RequestMirror). */
export const requestMirror: Policy<"requestMirror", RequestMirrorConfig, RequestMirrorNode> = {
  kind: "requestMirror",
  summary:
    "sends a copy of a part of the requests to another backend, whose responses are thrown away",
  scope: ["route"],
  schema: object(
    {
      backend: object(
        {
          host: text("`host:port` or a URL.", { readAtStart: true }),
          service: unsupported("mesh services"),
          backend: shortText("The name of one of the file's `backends`."),
        },
        { exactlyOneOf: ["host", "service", "backend"], description: "Where the copies go." },
      ),
      percentage: {
        type: "number",
        minimum: 0,
        maximum: 1,
        default: 1,
        description: "The part of the requests that is copied: 0 to 1.",
      },
    },
    { required: ["backend"], description: "Copies of requests for another backend." },
  ),
  protocol: "http",
  names: ["mirror"],
  merge: "join",
  read: (value, origin) => {
    const given = value as {
      readonly backend: { readonly host: Text } | { readonly backend: string };
      readonly percentage?: number;
    };
    const { backend, percentage: share = 1 } = given;
    const at = childOf(origin, "backend", "host" in backend ? "host" : "backend");
    const to = "host" in backend ? backend : { name: backend.backend };
    return { mirrors: [{ to, share, origin: at }] };
  },
  kubernetes: {
    field: "filter.requestMirror",
    filter: "requestMirror",
    read: (value, { origin, server }) => {
      const { backendRef, percent, fraction } = value as {
        readonly backendRef: ConfigValue;
        readonly percent?: number;
        readonly fraction?: { readonly numerator: number; readonly denominator?: number };
      };
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
    const url = hostUrl(to.host, origin, context.diagnostics);
    if (url === undefined) return undefined;
    const connection = resolveConnection(policies ?? {}, context);
    return { url: secureUrl(url, connection), connection, share, origin };
  }
  const found = context.namedServer(to.name, origin);
  if (found === undefined) return undefined;
  const { address, ...server } = found;
  return resolveMirror({ ...server, to: { host: address }, share }, context);
}
