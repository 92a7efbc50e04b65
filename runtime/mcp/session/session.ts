import { createHash } from "node:crypto";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import { type BridgedSession, newBridgedSession } from "../transports/session-bridge.ts";
import type { SessionConnection, TargetConnection } from "../transports/target-connection.ts";
import type { DistantSession } from "./distant-session.ts";

/** The state of an MCP session. */
export interface McpSession {
  /** The id that the client uses: sealed, see session-seal.ts. */
  readonly id: string;
  /** The scope in which the id is valid: route, targets, subject. */
  readonly binding: string;
  /** The client's `initialize` params as JSON text, for renewing a target's session; `undefined` if they were too long. */
  readonly initialize: string | undefined;
  /** One per target of the backend, in its order; `undefined` if failOpen has excluded the target. */
  readonly targets: readonly (TargetSession | undefined)[];
  /** The connections in this process; `undefined` if all targets are streamable HTTP. */
  readonly live: LiveParts | undefined;
  /** The connections at another replica; `undefined` if there are none. */
  readonly distant: DistantSession | undefined;
  /** When the id expires, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Whether the client has ended it: it is neither resumed from its id nor renewed. */
  isEnded: boolean;
  /** Callbacks that end the streams of this session in this process. */
  readonly streams: Set<() => void>;
  /** The client's ids of the tasks that its calls created in this process, the latest last. */
  readonly tasks: Set<string>;
  /** The name in the log; reveals nothing about the id. */
  readonly logName: string;
}

/** A session with one target. */
export type TargetSession = HttpSession | ConnectionSession | BridgedSession;

/** A session that the target identifies by an id. */
export interface HttpSession {
  readonly kind: "http";
  /** The target's `Mcp-Session-Id`; empty if it sent none. Changes when the session is renewed. */
  id: string;
  /** The replica that opened it, by `ip:port`; no other one knows it. `undefined` if any replica serves the session. */
  endpoint: string | undefined;
  /** The protocol revision negotiated with the target; empty for the one that the client's requests name. */
  readonly version: string;
  readonly features: Features;
  /** In flight while an expired session is reopened; resolves to whether that worked. */
  renewal: Promise<boolean> | undefined;
  /** Number of times that it was reopened in this process. */
  renewals: number;
}

/** Returns the parts of a session with targets that have no sessions, with the indexes of these targets. */
export function bridgedTargets({
  targets,
}: McpSession): readonly (readonly [number, BridgedSession])[] {
  return targets.flatMap((target, index) =>
    target?.kind === "stateless" ? [[index, target] as const] : [],
  );
}

/** Returns a session that the target has not opened yet. */
export function newHttpSession(): HttpSession {
  const isNew = { endpoint: undefined, renewal: undefined, renewals: 0 };
  return { kind: "http", id: "", version: "", features: "", ...isNew };
}

/** A session over a connection. */
export interface ConnectionSession {
  readonly kind: "live";
  readonly connection: SessionConnection;
  readonly features: Features;
}

/** The capabilities of a target, from its response to initialize: a subset of `tprlcs` (see `featuresOf`). */
export type Features = string;

/** The connections of a session, and when they were last used. */
export interface LiveParts {
  readonly id: string;
  /** The key for sharing the connections between requests without a session; `undefined` if they belong to one session. */
  readonly key: string | undefined;
  /** The caller that opened them: an identity, or an address. */
  readonly caller: string;
  readonly connections: TargetConnection[];
  /** Milliseconds without use after which they are ended. */
  readonly idle: number;
  /** Milliseconds since the epoch. */
  usedAt: number;
  /** False while the session is being opened; failures of targets then belong to the opening. */
  isEstablished: boolean;
  /** Called when the connections are closed. */
  onClosed?: () => void;
}

/** The letter in `Features` for each capability that the gateway routes by. */
export const featureLetters = {
  tools: "t",
  prompts: "p",
  resources: "r",
  logging: "l",
  completions: "c",
} as const;

/** The features of a target whose capabilities are unknown. */
export const allFeatures: Features = Object.values(featureLetters).join("");

/** The part of a session that is sealed into its id. Names are short because the id is sent with every request. */
interface SealedState {
  /** When the id expires, in milliseconds since the epoch. */
  readonly e: number;
  /** `initialize` params. */
  readonly i?: string;
  /** The id of the live parts. */
  readonly l?: string;
  /** The replica with the live parts; absent if it shares no store with others. */
  readonly r?: string;
  /** Targets: session id, version, features and replica; only features for a live one; null for an excluded one. */
  readonly t: readonly (HttpEntry | LiveEntry | null)[];
}

type HttpEntry =
  | readonly [id: string, version: string, features: string]
  | readonly [id: string, version: string, features: string, endpoint: string];
/** `isStateless`: the connection is to a server without sessions. */
type LiveEntry = readonly [features: string] | readonly [features: string, isStateless: true];

/**
 * Returns the JSON that is sealed into the id. `expiresAt`: milliseconds since the epoch. `replica`: this one; `undefined` if there
 * are no others.
 */
export function sessionState(
  session: SessionParts,
  expiresAt: number,
  replica: string | undefined,
): string {
  const state: SealedState = {
    e: expiresAt,
    ...(session.initialize === undefined ? {} : { i: session.initialize }),
    ...(session.live === undefined ? {} : { l: session.live.id, ...(replica && { r: replica }) }),
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

/** The parts of a session that its id restores. */
export type SessionParts = Pick<McpSession, "initialize" | "targets" | "live">;

/** The places in which the connections of a session may be. */
export interface SessionPlaces {
  /** Finds them in this process. */
  findLive(id: string): LiveParts | undefined;
  /** Returns those of another replica; `undefined` if it cannot be reached. */
  distant(replica: string, id: string): DistantSession | undefined;
}

/** Returns a new session. `expiresAt`: milliseconds since the epoch. */
export function newSession(
  id: string,
  binding: string,
  parts: SessionParts & Partial<Pick<McpSession, "distant">>,
  expiresAt: number,
): McpSession {
  const logName = createHash("sha256").update(id).digest("hex").slice(0, 12);
  return {
    id,
    binding,
    ...parts,
    distant: parts.distant,
    expiresAt,
    isEnded: false,
    streams: new Set(),
    tasks: new Set(),
    logName,
  };
}

/** Restores a session from its state; `undefined` if it has expired, or needs connections that have ended. */
export function sessionOf(
  id: string,
  binding: string,
  text: string,
  places: SessionPlaces,
): McpSession | undefined {
  // Authenticated JSON that this gateway wrote itself.
  const state = JSON.parse(text) as SealedState;
  if (!(state.e > Date.now())) return undefined;
  const live = state.l === undefined ? undefined : places.findLive(state.l);
  const isElsewhere = state.l !== undefined && state.r !== undefined && live === undefined;
  const distant = isElsewhere ? places.distant(state.r, state.l) : undefined;
  if (state.l !== undefined && live === undefined && distant === undefined) return undefined;
  let nextConnection = 0;
  const targets = state.t.map((entry): TargetSession | undefined => {
    if (entry === null) return undefined;
    if (entry.length === 3 || entry.length === 4) {
      const [session, version, features, endpoint] = entry;
      if (version === STATELESS_REVISION) return newBridgedSession(features, undefined);
      return { ...newHttpSession(), id: session, version, features, endpoint };
    }
    const at = nextConnection++;
    const connection = live === undefined ? distant?.connection(at) : live.connections[at];
    if (connection === undefined) return undefined;
    const [features, isStateless] = entry;
    return isStateless === true
      ? newBridgedSession(features, connection)
      : { kind: "live", connection, features };
  });
  return newSession(id, binding, { initialize: state.i, targets, live, distant }, state.e);
}
