import { createHash } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { openUpstream } from "../../http/upstream/open-upstream.ts";
import type { Upstream, UpstreamSettings } from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import { inheritedEnvironment } from "./child-environment.ts";
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

/** The MCP servers of a route and how they are used. Complete: nothing is defaulted at run time. */
export interface McpBackendSettings {
  /** The route's name; a session id is valid on its own route only. */
  readonly route: string;
  /** At least one; names are unique. */
  readonly targets: readonly McpTarget[];
  /** True: tools and prompts are called `target_name`, resources `target+uri`. Required with several targets. */
  readonly prefix: boolean;
  /** `failClosed`: a target that fails, fails the request; `failOpen`: the others answer without it. */
  readonly failureMode: "failClosed" | "failOpen";
  /** The names in rules that read the method: beside MCP's own methods no others pass where there are rules. */
  readonly ruledMethods: readonly string[];
  readonly timeouts: McpTimeouts;
  readonly limits: McpLimits;
  /** How clients with sessions are served by targets without; absent: all targets have sessions. */
  readonly toStateless?: SessionBridge;
  /** How clients without sessions are served by targets that have them; absent: no target needs that. */
  readonly toSessions?: StatelessBridge;
  /** How clients with sessions are served where none are kept: each request opens its own; absent: sessions are kept. */
  readonly toSingleCalls?: StatelessBridge;
  /** Absent: nothing is traced. */
  readonly sentTrace?: SentTrace;
}

/** Serves clients that have no session here by targets that have them. */
export interface StatelessBridge {
  call(caller: StatelessCaller, request: Message, sink: CallSink): Call;
}

/** A client that has no session here, and the target that it asks. */
export interface StatelessCaller {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly target: McpTarget;
  readonly owner: RequestOwner;
}

/** Whose a request is that belongs to no session. */
export interface RequestOwner {
  /** Route, targets and identity. */
  readonly binding: string;
  /** Whose share of all sessions and children it takes. */
  readonly caller: string;
  /** False: anybody may be behind it. */
  readonly isKnown: boolean;
}

/** Milliseconds. */
export interface McpTimeouts {
  /** From a client's message to the end of its response; undefined: no limit. Streams of their own have none. */
  readonly request: number | undefined;
  /** Until every target must have answered initialize: a child may have to be fetched and started first. */
  readonly initialize: number;
  /** Until every target must have answered another request that goes to all of them: lists, ping. */
  readonly fanOut: number;
  /** How long a call waits for what its client, or who sits before it, was asked. */
  readonly input: number;
  /** How long a stdio or SSE target may work on a request without any sign of life. */
  readonly call: number;
  /** Without a request or an open stream, a session's connections and children end after this time. */
  readonly idle: number;
  /** After this time from its opening a session's id is of no use any more, however much it is used. */
  readonly session: number;
  /** Between two comments on a stream that has nothing to say, for the proxies on the way. */
  readonly keepAlive: number;
}

/** Sizes and numbers. */
export interface McpLimits {
  /** The most bytes of a client's message; more is a 413. */
  readonly body: number;
  /** The most bytes of a target's message that has to be read as a whole. */
  readonly message: number;
  /** The most sessions with children or SSE connections. */
  readonly sessions: number;
  /** The most of them that one caller has. */
  readonly sessionsPerCaller: number;
}

/** How many sessions a process holds, and for how long. */
export interface SessionLimits {
  /** Milliseconds without a request or an open stream after which connections and children are ended. */
  readonly idle: number;
  /** The most sessions with connections or children; of the caller with the most, the one that was idle longest makes room. */
  readonly live: number;
  /** The most of one caller; then its own make room. */
  readonly perCaller: number;
  /** The most bytes of one message from a target. */
  readonly message: number;
}

/** The MCP servers of a route, ready to be used; nothing is connected or started before a session needs it. */
export interface McpBackend extends McpBackendSettings {
  /** The only target, when messages can be passed on without looking at their responses. */
  readonly passthrough: StreamableHttpTarget | undefined;
  /** Changes when a target becomes another server; part of what a session id is bound to. */
  readonly targetDigest: string;
  /** What its ids and states begin with, so that a request finds it among the backends of its route; absent: it has no others. */
  readonly tag?: string;
  readonly sessionLimits: SessionLimits;
  /**
   * True when a connection of this process keeps the credentials that opened it: whoever uses the session has to show the
   * same ones, an id alone is no proof of identity.
   */
  readonly keepsCredentials: boolean;
}

/** Makes a backend of its settings. */
export function openMcpBackend(settings: McpBackendSettings): McpBackend {
  const { targets, prefix, timeouts, limits } = settings;
  const only = targets.length === 1 ? targets[0] : undefined;
  const identities = targets.map((target) => [target.name, target.identity]);
  const digest = createHash("sha256").update(JSON.stringify([prefix, identities]));
  return {
    ...settings,
    passthrough: only?.kind === "streamableHttp" && !prefix ? only : undefined,
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
  /** The server as one that is asked again (see `repeatedServer`); absent: every request is sent once. */
  readonly retry?: (server: Upstream) => Upstream;
}

/** Settings of a target over streamable HTTP. */
export interface StreamableHttpSettings extends HttpTargetSettings {
  /** Absent: it shows of itself what it speaks. */
  readonly era?: TargetEraName;
}

/** A server over streamable HTTP. */
export function streamableHttp(settings: StreamableHttpSettings): StreamableHttpTarget {
  const { name, credentials, era, retry, ...rest } = settings;
  const replicas = new Replicas(rest, (server) => openServer(server, retry));
  return {
    kind: "streamableHttp",
    name,
    upstream: replicas.any,
    replicas,
    credentials,
    holdsBodies: retry !== undefined,
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

/** The pool of a target, asked again where that is configured. */
export function openServer(
  settings: UpstreamSettings,
  retry: ((server: Upstream) => Upstream) | undefined,
): Upstream {
  const server = openUpstream(settings);
  return retry?.(server) ?? server;
}

/** Settings of a target that is started as a child process. */
export interface StdioTargetSettings {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Beside what every child inherits, or in its place. */
  readonly env: Readonly<Record<string, string>>;
  readonly era?: TargetEraName;
}

/** A server that is started as a child process, one for each session. */
export function stdio({ env, ...settings }: StdioTargetSettings): StdioTarget {
  return stdioInOwnEnvironment({ ...settings, env: { ...inheritedEnvironment(), ...env } });
}

/** The same where `env` is all that the child gets. */
export function stdioInOwnEnvironment(settings: StdioTargetSettings): StdioTarget {
  const { command, args, env, era } = settings;
  // A digest: the environment may hold secrets.
  const secret = createHash("sha256").update(JSON.stringify(Object.entries(env).sort()));
  const identity = JSON.stringify(["stdio", command, args, secret.digest("base64url")]);
  return { kind: "stdio", ...settings, identity, era: new TargetEra(era) };
}
