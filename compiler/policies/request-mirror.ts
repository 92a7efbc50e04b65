import {
  lowerServer,
  lowerServerReference,
  serverFields,
} from "../backends/parts/callout-server.ts";
import { type DestinationNode, resolveServer } from "../backends/parts/destination.ts";
import { serverKeys } from "../backends/parts/server-name.ts";
import { childOf } from "../diagnostics/diagnostic.ts";
import { backendReference } from "../manifests/field-types.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import { type Infer, integer, object, type Schema } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** A destination of copies, as configured. */
interface MirrorConfig {
  readonly server: DestinationConfig;
  readonly share: number;
}

/** A destination of copies, resolved. */
interface MirrorNode extends Omit<DestinationNode, "http" | "responseHeaders"> {
  readonly share: number;
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
  description: "Fraction of requests that are copied: 0 to 1.",
};

const schema = object(
  {
    backend: object(serverFields, {
      exactlyOneOf: serverKeys,
      description: "Server that receives the copies.",
    }),
    percentage: share,
  },
  { required: ["backend"], description: "Sends copies of requests to another backend." },
);

/** Schema of Gateway API's `HTTPRequestMirrorFilter`. */
const kubernetesSchema = object(
  {
    backendRef: backendReference("Server that receives the copies."),
    percent: integer("Percentage of requests that are copied.", 0, 100),
    fraction: object(
      {
        numerator: integer("The numerator.", 0, Number.MAX_SAFE_INTEGER),
        denominator: integer("The denominator.", 1, Number.MAX_SAFE_INTEGER, { default: 100 }),
      },
      {
        required: ["numerator"],
        description: "Fraction of requests that are copied.",
        checks: [
          {
            message: "the numerator cannot exceed the denominator",
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
  summary: "sends copies of all or some requests to another backend and discards its responses",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["forwards", "mcp", "llm"],
  },
  names: ["mirror"],
  lowering: {
    merge: "join",
    lower: ({ backend, percentage: share = 1 }, origin) => ({
      mirrors: [{ server: lowerServer(backend, childOf(origin, "backend")), share }],
    }),
    resolve: ({ mirrors }, context) => {
      const resolved = mirrors.flatMap(({ server, share }): MirrorNode[] => {
        const found = resolveServer(server, context);
        if (found === undefined) return [];
        const { url, connection } = found;
        return [{ url, connection, share, origin: server.origin }];
      });
      return resolved.length === mirrors.length ? { mirrors: resolved } : undefined;
    },
  },
  kubernetes: {
    field: "filter.requestMirror",
    filter: "requestMirror",
    schema: kubernetesSchema,
    lower: ({ backendRef, percent, fraction }, context) => {
      const server = lowerServerReference({ backendRef }, context);
      const part = fraction && fraction.numerator / (fraction.denominator ?? 100);
      const share = Math.min(1, part ?? (percent ?? 100) / 100);
      return server && { mirrors: [{ server, share }] };
    },
    join: (configs) => ({ mirrors: configs.flatMap(({ mirrors }) => mirrors) }),
  },
};
