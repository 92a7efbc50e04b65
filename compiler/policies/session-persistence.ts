import { createHash } from "node:crypto";
import type { PersistenceSettings } from "../../runtime/policies/session-persistence.ts";
import { checkHeaderName } from "../backends/parts/header-fields.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { span } from "../manifests/field-types.ts";
import { parseTimer } from "../schema/duration.ts";
import { choice, duration, type Infer, object, type Schema, shortText } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** `sessionPersistence` as configured; times in milliseconds. */
interface SessionPersistenceConfig extends Omit<PersistenceSettings, "name" | "route"> {
  /** `undefined` for a generated name, unique per route. */
  readonly name: string | undefined;
  readonly origin: Origin;
}

/** `sessionPersistence` resolved. */
type SessionPersistenceNode = Omit<PersistenceSettings, "route">;

/** Returns the schema of Gateway API's `SessionPersistence`; `time` returns that of times in the form. */
function sessionSchema(time: (description: string) => Schema<string>) {
  return object(
    {
      sessionName: shortText(
        "Name of the cookie or header; by default `gwc-session-` and a digest that is unique to the route.",
        { maxLength: 128, pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$" },
      ),
      type: choice(
        "How clients send the session back: in a cookie, or in a header that they copy from responses.",
        ["Cookie", "Header"],
        { default: "Cookie" },
      ),
      absoluteTimeout: time(
        "Maximum duration of a session from its first request; unlimited by default.",
      ),
      idleTimeout: time(
        "Maximum time between requests of a session. With it, every response renews the cookie or header.",
      ),
      cookieConfig: object(
        {
          lifetimeType: choice(
            "`Session` until the browser is closed; `Permanent` until `absoluteTimeout`.",
            ["Session", "Permanent"],
            { default: "Session" },
          ),
        },
        { description: "Lifetime of the cookie in browsers." },
      ),
    },
    {
      description:
        "Sends each client to the server of its first request, among several backends and all pods or addresses of a backend's name. The session is encrypted with `SESSION_KEY` and can only name a server of the route. A server that was removed or ejected is replaced.",
      examples: [{ type: "Cookie", idleTimeout: "30m" }],
      checks: [
        {
          message: 'a permanent cookie requires "absoluteTimeout"',
          field: "cookieConfig",
          holds: ({ cookieConfig, absoluteTimeout }) =>
            !isPermanent(cookieConfig) || absoluteTimeout !== undefined,
          cel: "!has(self.cookieConfig) || !has(self.cookieConfig.lifetimeType) || self.cookieConfig.lifetimeType != 'Permanent' || has(self.absoluteTimeout)",
        },
        {
          message: '"cookieConfig" requires type: Cookie',
          field: "cookieConfig",
          holds: ({ cookieConfig, type }) => cookieConfig === undefined || type !== "Header",
          cel: "!has(self.cookieConfig) || !has(self.type) || self.type == 'Cookie'",
        },
      ],
    },
  );
}

function isPermanent(config: unknown): boolean {
  return (
    typeof config === "object" &&
    config !== null &&
    Reflect.get(config, "lifetimeType") === "Permanent"
  );
}

/** Tokens store times in whole seconds. */
const MINIMUM = { minimumDuration: "1s" };

const schema = sessionSchema((description) => duration(description, MINIMUM));
const kubernetesSchema = sessionSchema((description) => span(description, MINIMUM));

/** Keeps clients on the server of their first request (Gateway API SessionPersistence, GEP-1619). */
export const sessionPersistence: Policy<
  "sessionPersistence",
  SessionPersistenceConfig,
  SessionPersistenceNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "sessionPersistence",
  summary:
    "sends each client to the server of its first request, by an encrypted cookie or header; a server that was removed or ejected is replaced",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["shares"],
    actsOnCall: true,
    choosesServer: true,
  },
  names: ["session", "servers", "choice"],
  lowering: {
    merge: "replace",
    lower: lowerSession,
    resolve: ({ name, origin, ...session }, context) => {
      const at = childOf(origin, "sessionName");
      if (session.kind === "header" && name !== undefined && !checkHeaderName(name, at, context)) {
        return undefined;
      }
      return { ...session, name: name ?? `gwc-session-${digestOf(origin)}` };
    },
  },
  kubernetes: {
    field: "rule.sessionPersistence",
    ruleField: "sessionPersistence",
    isOfGrpc: true,
    schema: kubernetesSchema,
    ruleSchema: kubernetesSchema,
    lower: (value, { origin }) => lowerSession(value, origin),
  },
};

function lowerSession(
  {
    sessionName,
    type = "Cookie",
    absoluteTimeout,
    idleTimeout,
    cookieConfig,
  }: Infer<typeof schema>,
  origin: Origin,
): SessionPersistenceConfig {
  const isHeader = type === "Header";
  return {
    name: isHeader ? sessionName?.toLowerCase() : sessionName,
    kind: isHeader ? "header" : "cookie",
    ...(absoluteTimeout !== undefined && { absoluteTimeout: parseTimer(absoluteTimeout) ?? 0 }),
    ...(idleTimeout !== undefined && { idleTimeout: parseTimer(idleTimeout) ?? 0 }),
    isPermanent: cookieConfig?.lifetimeType === "Permanent",
    origin,
  };
}

/** Returns 8 characters that identify the policy's location without revealing it. */
function digestOf({ resource, path }: Origin): string {
  const place = [resource?.name ?? "", ...path.slice(resource?.depth ?? 0)].join(" ");
  return createHash("sha256").update(place).digest("hex").slice(0, 8);
}
