import { createHash } from "node:crypto";
import type { UserConnection } from "../../auth/connections/connected-upstream.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { openUpstream } from "../../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { ItemOwners } from "./item-owners.ts";
import { Replicas } from "./replicas.ts";
import type { SentTrace } from "./sent-trace.ts";
import type { SessionBridge } from "./session-bridge.ts";
import type {
  Call,
  CallSink,
  Credentials,
  McpTarget,
  SseTarget,
  StdioTarget,
  StreamableHttpTarget,
} from "./target.ts";
import { TargetEra, type TargetEraName } from "./target-era.ts";
import type { ToolFront } from "./tool-front.ts";

/** The MCP servers of a route and their settings. All are set: the runtime has no defaults. */
export interface McpBackendSettings {
  /** The route's name; a session id is valid on its own route only. */
  readonly route: string;
  /** At least one; names are unique. */
  readonly targets: readonly McpTarget[];
  /**
   * Whether names have prefixes: tools and prompts are called `target_name`, resources `target+uri`. Required with several
   * targets.
   */
  readonly prefix?: boolean;
  /** `failClosed`: the request fails if one target fails; `failOpen`: the other targets respond without it. */
  readonly failureMode: "failClosed" | "failOpen";
  /** Targets of tools and prompts whose names have no prefix although there are several targets; absent if they have one. */
  readonly owners?: ItemOwners;
  /** Changes which tools clients see, and under which names; absent if they see those of the targets. */
  readonly toolFront?: ToolFront;
  /** How clients see tools at other paths: by the last segment of the path. */
  readonly views?: Readonly<Record<string, ToolFront>>;
  /** Removes from JSON text what apps may not declare; absent if they may declare everything. */
  readonly narrowApps?: (text: string) => string;
  /** Methods that rules name; where there are rules, only these and MCP's own methods pass. */
  readonly ruledMethods?: readonly string[];
  readonly timeouts: McpTimeouts;
  readonly limits: McpLimits;
  /** Serves clients with sessions from targets without; absent if all targets have sessions. */
  readonly toStateless?: SessionBridge;
  /** Serves clients without sessions from targets with sessions; absent if no target needs that. */
  readonly toSessions?: StatelessBridge;
  /**
   * Serves clients with sessions where the gateway stores none, so each request opens its own; absent if sessions are
   * stored.
   */
  readonly toSingleCalls?: StatelessBridge;
  /** Forwards messages to the only target; absent if there are several, or if it is not reached over streamable HTTP. */
  readonly toOnlyTarget?: OnlyTargetBridge;
  /** Absent if nothing is traced. */
  readonly sentTrace?: SentTrace;
}

/** Forwards requests to the only target of a route unchanged. `post` is absent if there is no body, or if it is unread. */
export interface OnlyTargetBridge {
  /** Forwards a request of a revision with sessions. */
  pass(
    exchange: Exchange,
    backend: McpBackend,
    target: StreamableHttpTarget,
    access: McpAuthorization,
    post: PassthroughMessage | undefined,
  ): Handled;
  /** Forwards a request of the revision without sessions. */
  passStateless(
    exchange: Exchange,
    backend: McpBackend,
    target: StreamableHttpTarget,
    access: McpAuthorization,
    post: PassthroughMessage | undefined,
  ): void;
}

/** A client's message to the only target of a route. */
export interface PassthroughMessage {
  readonly message: Message;
  /** The message as it was received, for forwarding. */
  readonly bytes: Buffer;
}

/** Serves clients without a session at the gateway from targets with sessions. */
export interface StatelessBridge {
  call(caller: StatelessCaller, request: Message, sink: CallSink): Call;
}

/** A client without a session at the gateway, and the target that it calls. */
export interface StatelessCaller {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly target: McpTarget;
  readonly owner: RequestOwner;
}

/** The owner of a request outside sessions. */
export interface RequestOwner {
  /** Route, targets and identity. */
  readonly binding: string;
  /** The caller whose share of all sessions and children the request uses. */
  readonly caller: string;
  /** False if the owner may be anybody. */
  readonly isKnown: boolean;
}

/** Timeouts in milliseconds. */
export interface McpTimeouts {
  /** From a client's message to the end of its response; `undefined` if unlimited. Standalone streams have no limit. */
  readonly request: number | undefined;
  /** Time for all targets to answer initialize; a child may have to be downloaded and started first. */
  readonly initialize: number;
  /** Time for all targets to answer another request that goes to all of them: lists, ping. */
  readonly fanOut: number;
  /** Maximum time that a call waits for input from its client or the client's user. */
  readonly input: number;
  /** Maximum time that a stdio or SSE target may work on a request without sending a message. */
  readonly call: number;
  /** Time without a request or an open stream after which a session's connections and children are ended. */
  readonly idle: number;
  /** Lifetime of a session id, however much it is used. */
  readonly session: number;
  /** Time between two comments on an idle stream, which keep proxies from closing it. */
  readonly keepAlive: number;
}

/** Limits of sizes and counts. */
export interface McpLimits {
  /** Maximum number of bytes of a client's message; larger ones are answered with 413. */
  readonly body: number;
  /** Maximum number of bytes of a target's message that has to be read as a whole. */
  readonly message: number;
  /** Maximum number of sessions with children or SSE connections. */
  readonly sessions: number;
  /** Maximum number of such sessions per caller. */
  readonly sessionsPerCaller: number;
}

/** Maximum number of live sessions in a process, and their lifetime. */
export interface SessionLimits {
  /** Milliseconds without a request or an open stream after which connections and children are ended. */
  readonly idle: number;
  /**
   * Maximum number of sessions with connections or children. If exceeded, the longest idle session of the caller with the
   * most sessions is ended.
   */
  readonly live: number;
  /** Maximum number per caller; if exceeded, the caller's own sessions are ended. */
  readonly perCaller: number;
  /** Maximum number of bytes of one message from a target. */
  readonly message: number;
}

/** The MCP servers of a route, ready for use; nothing is connected or started before a session needs it. */
export interface McpBackend extends McpBackendSettings {
  /** The only target and its bridge, if messages can be passed on without inspecting the responses. */
  readonly passthrough: Passthrough | undefined;
  /** Changes when a target becomes another server; session ids are bound to it. */
  readonly targetDigest: string;
  /**
   * Prefix of its ids and states, by which a request finds it among the backends of its route; absent if it is the only
   * one.
   */
  readonly tag?: string;
  readonly sessionLimits: SessionLimits;
  /** The same backend as each of its views, by name; absent if it has none. */
  readonly viewed?: ReadonlyMap<string, McpBackend>;
  /**
   * Whether a connection of this process stores the credentials that opened it. Every request of the session must then
   * present the same ones; the id alone does not prove identity.
   */
  readonly keepsCredentials: boolean;
}

/** The only target of a route, which receives messages as clients sent them. */
export interface Passthrough {
  readonly target: StreamableHttpTarget;
  readonly bridge: OnlyTargetBridge;
}

/** Creates a backend from its settings. */
export function openMcpBackend(settings: McpBackendSettings): McpBackend {
  const backend = openBackend(settings);
  const { views } = settings;
  if (views === undefined) return backend;
  const named = Object.entries(views).map(
    ([name, toolFront]) => [name, { ...backend, toolFront }] as const,
  );
  return { ...backend, viewed: new Map(named) };
}

function openBackend(settings: McpBackendSettings): McpBackend {
  const { targets, prefix, timeouts, limits, toOnlyTarget: bridge } = settings;
  const only = targets.length === 1 ? targets[0] : undefined;
  const identities = targets.map((target) => [target.name, target.identity]);
  const digest = createHash("sha256").update(JSON.stringify([prefix, identities]));
  return {
    ...settings,
    passthrough:
      only?.kind === "streamableHttp" && bridge !== undefined
        ? { target: only, bridge }
        : undefined,
    targetDigest: digest.digest("base64url"),
    keepsCredentials: targets.some(
      (target) =>
        (target.kind === "sse" || target.kind === "openapi") && target.credentials !== "withhold",
    ),
    sessionLimits: {
      idle: timeouts.idle,
      live: limits.sessions,
      perCaller: limits.sessionsPerCaller,
      message: limits.message,
    },
  };
}

/** Settings of a target that is reached over HTTP. */
export interface HttpTargetSettings extends UpstreamSettings {
  readonly name: string;
  readonly credentials: Credentials;
  /** Connection of users whose tokens the server gets; absent if it gets none. */
  readonly user?: UserConnection | undefined;
  /** Wraps the server so that requests are retried (see `repeatedServer`); absent if every request is sent once. */
  readonly retry?: (server: Upstream) => Upstream;
}

/** Settings of a target over streamable HTTP. */
export interface StreamableHttpSettings extends HttpTargetSettings {
  /** Absent if the era is detected. */
  readonly era?: TargetEraName;
}

/** A server over streamable HTTP. */
export function streamableHttp(settings: StreamableHttpSettings): StreamableHttpTarget {
  const { name, credentials, era, retry, user, ...rest } = settings;
  const replicas = new Replicas(rest, (server) => openServer(server, retry, user));
  return {
    kind: "streamableHttp",
    name,
    upstream: replicas.any,
    replicas,
    credentials,
    ...(user && { user }),
    holdsBodies: retry !== undefined || user !== undefined,
    identity: `http ${rest.url}`,
    era: new TargetEra(era),
  };
}

/** A server over the HTTP+SSE transport of revision 2024-11-05. */
export function sse(settings: HttpTargetSettings): SseTarget {
  const { name, credentials, retry, ...rest } = settings;
  const replicas = new Replicas(rest, (server) => openServer(server, retry));
  const identity = `sse ${rest.url}`;
  return { kind: "sse", name, upstream: replicas.any, replicas, credentials, identity };
}

/** Opens the pool of a target, with retries if configured. */
export function openServer(
  settings: UpstreamSettings,
  retry: ((server: Upstream) => Upstream) | undefined,
  user?: UserConnection,
): Upstream {
  const opened = openUpstream(settings);
  const server = user?.connect(opened) ?? opened;
  return retry?.(server) ?? server;
}

/** Settings of a target that is started as a child process. */
export interface StdioTargetSettings {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Adds to the inherited variables, or overrides them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its folder; absent for that of the gateway's process. */
  readonly cwd?: string;
  readonly era?: TargetEraName;
}

/** A server that is started as a child process, one for each session. */
export function stdio({ env, ...settings }: StdioTargetSettings): StdioTarget {
  return stdioInOwnEnvironment({ ...settings, env: { ...inheritedEnvironment(), ...env } });
}

/** Returns the same, except that `env` is the whole environment of the child. */
export function stdioInOwnEnvironment(settings: StdioTargetSettings): StdioTarget {
  const { command, args, env = {}, cwd, era } = settings;
  // A digest: the environment may contain secrets.
  const secret = createHash("sha256").update(JSON.stringify(Object.entries(env).sort()));
  const identity = JSON.stringify(["stdio", command, args, secret.digest("base64url"), cwd]);
  return { kind: "stdio", ...settings, env, identity, era: new TargetEra(era) };
}

/** The variables that a child inherits; the rest of the gateway's environment may contain secrets. */
const INHERITED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  // Paths of CA certificates: npx and uvx download through the same TLS-intercepting proxy as the gateway.
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
] as const;

/** Returns the variables of the gateway's environment that a child needs. */
function inheritedEnvironment(): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
