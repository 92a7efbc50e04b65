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
  /** Undefined: a name that no other route has. */
  readonly name: string | undefined;
  readonly origin: Origin;
}

/** `sessionPersistence` resolved. */
type SessionPersistenceNode = Omit<PersistenceSettings, "route">;

/** Gateway API `SessionPersistence`; `time`: how a form writes times. */
function sessionSchema(time: (description: string) => Schema<string>) {
  return object(
    {
      sessionName: shortText(
        "The name of the cookie, or of the header. By default `gwc-session-` and a digest that no other route has.",
        { maxLength: 128, pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$" },
      ),
      type: choice(
        "How clients show the server that they had: by a cookie, or by a header that they copy from responses.",
        ["Cookie", "Header"],
        { default: "Cookie" },
      ),
      absoluteTimeout: time(
        "How long a session lasts at most, from its first request on. Without it as long as the client shows it.",
      ),
      idleTimeout: time(
        "How long a session lasts without a request; every response then has a new cookie or header.",
      ),
      cookieConfig: object(
        {
          lifetimeType: choice(
            "Session: until the browser is closed; Permanent: until `absoluteTimeout`.",
            ["Session", "Permanent"],
            { default: "Session" },
          ),
        },
        { description: "How long browsers keep the cookie." },
      ),
    },
    {
      description:
        "Keeps each client at the server that it had: of several backends, and of all pods or addresses that a backend's name stands for. What the client shows is sealed by `SESSION_KEY`, and names one of the route's own servers or nothing. A server that left or was ejected is replaced.",
      examples: [{ type: "Cookie", idleTimeout: "30m" }],
      checks: [
        {
          message: "a permanent cookie needs an absoluteTimeout",
          field: "cookieConfig",
          holds: ({ cookieConfig, absoluteTimeout }) =>
            !isPermanent(cookieConfig) || absoluteTimeout !== undefined,
          cel: "!has(self.cookieConfig) || !has(self.cookieConfig.lifetimeType) || self.cookieConfig.lifetimeType != 'Permanent' || has(self.absoluteTimeout)",
        },
        {
          message: "cookieConfig is for sessions of type Cookie",
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

/** Tokens have times in seconds. */
const LEAST = { minimumDuration: "1s" };

const schema = sessionSchema((description) => duration(description, LEAST));
const kubernetesSchema = sessionSchema((description) => span(description, LEAST));

/** Keeps clients at the servers that they had (Gateway API SessionPersistence, GEP-1619). */
export const sessionPersistence: Policy<
  "sessionPersistence",
  SessionPersistenceConfig,
  SessionPersistenceNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "sessionPersistence",
  summary:
    "keeps each client at the server that it had, by a sealed cookie or header; one that left or was ejected is replaced",
  scope: ["route"],
  schema,
  actsOn: ["shares"],
  names: ["session", "servers", "choice"],
  actsOnCall: true,
  choosesServer: true,
  merge: "replace",
  lower: lowerSession,
  kubernetes: {
    field: "rule.sessionPersistence",
    ruleField: "sessionPersistence",
    isOfGrpc: true,
    schema: kubernetesSchema,
    ruleSchema: kubernetesSchema,
    lower: (value, { origin }) => lowerSession(value, origin),
  },
  resolve: ({ name, origin, ...session }, context) => {
    const at = childOf(origin, "sessionName");
    if (session.kind === "header" && name !== undefined && !checkHeaderName(name, at, context)) {
      return undefined;
    }
    return { ...session, name: name ?? `gwc-session-${digestOf(origin)}` };
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

/** Where the policy stands, in 8 characters that do not say it. */
function digestOf({ resource, path }: Origin): string {
  const place = [resource?.name ?? "", ...path.slice(resource?.depth ?? 0)].join(" ");
  return createHash("sha256").update(place).digest("hex").slice(0, 8);
}
