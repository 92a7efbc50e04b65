import { createHash } from "node:crypto";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import { type BridgedSession, newBridgedSession } from "../transports/session-bridge.ts";
import type { TargetConnection } from "../transports/target-connection.ts";

/** What the gateway knows about one MCP session. */
export interface McpSession {
  /** What the client calls it: sealed, see session-seal.ts. */
  readonly id: string;
  /** Where it is valid: route, targets, subject. */
  readonly binding: string;
  /** The client's `initialize` params as JSON text, to renew a target's session; undefined when they were too long. */
  readonly initialize: string | undefined;
  /** One for each target of the backend, in its order; undefined: left out by failOpen. */
  readonly targets: readonly (TargetSession | undefined)[];
  /** What it holds open in this process; undefined when all targets are streamable HTTP. */
  readonly live: LiveParts | undefined;
  /** Milliseconds since the epoch from which on its id is of no use. */
  readonly expiresAt: number;
  /** The client has ended it: it isn't resumed from its id, nor renewed. */
  isEnded: boolean;
  /** Ends the streams that listen to it in this process. */
  readonly streams: Set<() => void>;
  /** What the log calls it; says nothing about the id. */
  readonly logName: string;
}

/** A session with one target. */
export type TargetSession = HttpSession | ConnectionSession | BridgedSession;

/** A session that the target knows by an id. */
export interface HttpSession {
  readonly kind: "http";
  /** The target's `Mcp-Session-Id`; empty when it gave none. Changes when the session is renewed. */
  id: string;
  /** The replica at which it began, by `ip:port`: no other one knows it. Undefined: whichever is reached does. */
  endpoint: string | undefined;
  /** The protocol revision agreed with the target; empty: the one that the client's requests name. */
  readonly version: string;
  readonly features: Features;
  /** Under way while an expired session is opened anew; true when that worked. */
  renewal: Promise<boolean> | undefined;
}

/** A session with a target that has not been opened yet. */
export function newHttpSession(): HttpSession {
  const renewal = undefined;
  return { kind: "http", id: "", version: "", features: "", endpoint: undefined, renewal };
}

/** A session that is a connection of this process. */
export interface ConnectionSession {
  readonly kind: "live";
  readonly connection: TargetConnection;
  readonly features: Features;
}

/** What a target offers, as it said in its response to initialize: a subset of `tprlcs` (see `featuresOf`). */
export type Features = string;

/** The connections of a session, and how long nobody has used them. */
export interface LiveParts {
  readonly id: string;
  /** Who shares it, for what is no part of a session; undefined: one session has it. */
  readonly key: string | undefined;
  /** Who opened it: an identity, or an address. */
  readonly caller: string;
  readonly connections: TargetConnection[];
  /** Milliseconds without use after which they are ended. */
  readonly idle: number;
  /** Milliseconds since the epoch. */
  usedAt: number;
  /** False while the session is being opened: a target that fails then is the opening's business. */
  isEstablished: boolean;
}

/** The letter in `Features` for each capability that the gateway routes by. */
export const featureLetters = {
  tools: "t",
  prompts: "p",
  resources: "r",
  logging: "l",
  completions: "c",
} as const;

/** What a target offers of which nothing is known. */
export const allFeatures: Features = Object.values(featureLetters).join("");

/** The part of a session that travels in its id. Short names: it is sent with every request. */
interface SealedState {
  /** When the id expires, in milliseconds since the epoch. */
  readonly e: number;
  /** `initialize` params. */
  readonly i?: string;
  /** The id of the live parts. */
  readonly l?: string;
  /** Targets: session id, version, features and replica; features only for a live one; null for one left out. */
  readonly t: readonly (HttpEntry | LiveEntry | null)[];
}

type HttpEntry =
  | readonly [id: string, version: string, features: string]
  | readonly [id: string, version: string, features: string, endpoint: string];
/** The second one: the connection is to a server without sessions. */
type LiveEntry = readonly [features: string] | readonly [features: string, isStateless: true];

/** The text that is sealed into the id. `expiresAt`: milliseconds since the epoch. */
export function sessionState(session: SessionParts, expiresAt: number): string {
  const state: SealedState = {
    e: expiresAt,
    ...(session.initialize === undefined ? {} : { i: session.initialize }),
    ...(session.live === undefined ? {} : { l: session.live.id }),
    t: session.targets.map(sealedTarget),
  };
  return JSON.stringify(state);
}

function sealedTarget(target: TargetSession | undefined): HttpEntry | LiveEntry | null {
  if (target === undefined) return null;
  const { kind, features } = target;
  switch (kind) {
    case "http": {
      const { id, version, endpoint } = target;
      return endpoint === undefined ? [id, version, features] : [id, version, features, endpoint];
    }
    case "live":
      return [features];
    case "stateless":
      return target.connection === undefined
        ? ["", STATELESS_REVISION, features]
        : [features, true];
  }
}

/** What a session consists of. */
export type SessionParts = Pick<McpSession, "initialize" | "targets" | "live">;

/** A session that has not been used yet. `expiresAt`: milliseconds since the epoch. */
export function newSession(
  id: string,
  binding: string,
  parts: SessionParts,
  expiresAt: number,
): McpSession {
  const logName = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return { id, binding, ...parts, expiresAt, isEnded: false, streams: new Set(), logName };
}

/** The session that a state describes; undefined when it has expired, or needs live parts that this process doesn't have. */
export function sessionOf(
  id: string,
  binding: string,
  text: string,
  findLive: (id: string) => LiveParts | undefined,
): McpSession | undefined {
  // Authenticated text that this gateway wrote itself.
  const state = JSON.parse(text) as SealedState;
  if (!(state.e > Date.now())) return undefined;
  const live = state.l === undefined ? undefined : findLive(state.l);
  if (state.l !== undefined && live === undefined) return undefined;
  let nextConnection = 0;
  const targets = state.t.map((entry): TargetSession | undefined => {
    if (entry === null) return undefined;
    if (entry.length === 3 || entry.length === 4) {
      const [session, version, features, endpoint] = entry;
      if (version === STATELESS_REVISION) return newBridgedSession(features, undefined);
      return { kind: "http", id: session, version, features, endpoint, renewal: undefined };
    }
    const connection = live?.connections[nextConnection++];
    if (connection === undefined) return undefined;
    const [features, isStateless] = entry;
    return isStateless === true
      ? newBridgedSession(features, connection)
      : { kind: "live", connection, features };
  });
  return newSession(id, binding, { initialize: state.i, targets, live }, state.e);
}
