import type { ConfigValue } from "../1-parse/values.ts";
import { resolveConnection } from "../2-resolve/backend-connection.ts";
import type { BackendPolicies } from "../backend-policies.ts";
import { below, type Origin } from "../diagnostics.ts";
import { hostUrl } from "../host-url.ts";
import type { BackendConnection, Text } from "../ir.ts";
import { notYet, object, text } from "../schema.ts";
import type { Policy } from "./policy.ts";

/** Where copies go, as configured. */
interface MirrorConfig {
  readonly host: Text;
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

declare module "./policy.ts" {
  interface PolicyConfigs {
    requestMirror: { readonly mirrors: readonly MirrorConfig[] };
  }
}

declare module "../ir.ts" {
  interface PolicySettings {
    requestMirror: { readonly mirrors: readonly MirrorNode[] };
  }
}

/** Copies requests to a second backend (Gateway API RequestMirror). */
export const requestMirror: Policy<"requestMirror"> = {
  kind: "requestMirror",
  summary:
    "sends a copy of a part of the requests to another backend, whose answers are thrown away",
  scope: ["route"],
  schema: object(
    {
      backend: object(
        {
          host: text("`host:port` or a URL.", { late: true }),
          service: notYet("mesh services"),
          backend: notYet("named backends"),
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
  needs: "host",
  merge: "join",
  read: (value, origin) => {
    const given = value as {
      readonly backend: { readonly host: Text };
      readonly percentage?: number;
    };
    const share = given.percentage ?? 1;
    const at = below(origin, "backend", "host");
    return { mirrors: [{ host: given.backend.host, share, origin: at }] };
  },
  cluster: {
    field: "filter.requestMirror",
    filter: "requestMirror",
    read: (value, { origin, server }) => {
      const { backendRef, percent, fraction } = value as {
        readonly backendRef: ConfigValue;
        readonly percent?: number;
        readonly fraction?: { readonly numerator: number; readonly denominator?: number };
      };
      const at = below(origin, "backendRef");
      const found = server(backendRef, at);
      if (found === undefined) return undefined;
      const part = fraction && fraction.numerator / (fraction.denominator ?? 100);
      const share = Math.min(1, part ?? (percent ?? 100) / 100);
      return { mirrors: [{ host: found.url, policies: found.policies, share, origin: at }] };
    },
    join: (configs) => ({ mirrors: configs.flatMap(({ mirrors }) => mirrors) }),
  },
  resolve: ({ mirrors }, context) => {
    const resolved = mirrors.flatMap(({ host, policies, share, origin }): MirrorNode[] => {
      const url = hostUrl(host, origin, context.diagnostics);
      if (url === undefined) return [];
      return [{ url, connection: resolveConnection(policies ?? {}, context), share, origin }];
    });
    return resolved.length === mirrors.length ? { mirrors: resolved } : undefined;
  },
};
