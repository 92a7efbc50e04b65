import type {
  DrainSettings,
  ServiceAddresses,
  WorkerThreads,
} from "../../runtime/gateway/definition.ts";
import type { ConnectionSettings } from "../../runtime/net/connection-settings.ts";
import type { LogLevels } from "../../runtime/telemetry/logs/log-level.ts";
import type { LogFormat } from "../../runtime/telemetry/logs/log-line.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { RouteMatch } from "../model/matches.ts";
import type { AccessLogNode } from "./access-log.ts";
import type { BackendNode } from "./backends.ts";
import type { DeploymentNode } from "./deployment.ts";
import type { MeshNode } from "./mesh.ts";
import type { PolicyUse } from "./policies.ts";
import type { PortNode } from "./port.ts";
import type { TcpBindNode } from "./tcp.ts";
import type { CertificateFiles, TlsNode } from "./tls.ts";
import type { TracingNode } from "./tracing.ts";

/** What a gateway does, with nothing left to look up: plain readonly data (`gwc build --print program`). */
export interface Program {
  /** The gateway's name: the output folder's, the log's. */
  readonly name: string;
  /** The input files by name in generated text, sorted. */
  readonly inputs: readonly ProgramInput[];
  readonly binds: readonly BindNode[];
  /** Ports whose bytes are passed on. */
  readonly tcp: readonly TcpBindNode[];
  /** Which clients may connect; absent: all. */
  readonly connectionRules?: PolicyUse;
  readonly process: ProcessNode;
  /** How the connections of clients are held. */
  readonly connections: ConnectionSettings;
  /** The most bytes of a body that is read as a whole. */
  readonly maxBufferSize: number;
  /** What access lines hold; absent: the usual, of every request. */
  readonly accessLog?: AccessLogNode;
  /** The header (lower case) that holds the id of each request; absent: requests have none. */
  readonly requestId?: string;
  /** Which requests are traced; absent: none. */
  readonly tracing?: TracingNode;
  /** How much is logged; absent: as usual. */
  readonly logLevels?: LogLevels;
  /** The mesh that it is a part of; absent: none. */
  readonly mesh?: MeshNode;
  /** What runs it in a cluster; undefined for a gateway that a standalone file describes. */
  readonly deployment?: DeploymentNode;
}

/** An input file. */
export interface ProgramInput {
  readonly name: string;
  /** SHA-256 of the content (not of its layout), hex. */
  readonly sha256: string;
}

/** Settings of the whole process, as the runtime takes them. */
export interface ProcessNode {
  /** How lines are written. */
  readonly logFormat: LogFormat;
  /** Where refusals, logins and what the process does are written: a file, or the log; absent: nowhere of their own. */
  readonly audit?: { readonly file: string | undefined };
  readonly addresses: ServiceAddresses;
  /** Where `gwc run` serves its admin page: a loopback `host:port`. A bundle has none. */
  readonly adminAddress: string;
  readonly drain: DrainSettings;
  /** How many threads serve; absent: one. */
  readonly workers?: WorkerThreads;
  /** Bytes that bodies which are read whole may take together; absent: a part of the memory there is at start. */
  readonly maxBufferedBytes?: number;
}

/** One port. */
export interface BindNode extends PortNode {
  /** TLS of connections that name no server; undefined: plain HTTP. */
  readonly tls: TlsNode | undefined;
  /** In order of precedence: exact hostnames, wildcards from the longest, then the one for every name. */
  readonly listeners: readonly ListenerNode[];
  /** All hostnames of the port, in the same order. */
  readonly hostnames: readonly HostnameNode[];
}

/** A hostname of a port, and what has it: a listener by its id, or undefined where `tcp` passes its connections on. */
export interface HostnameNode {
  readonly hostname: string;
  readonly listener: string | undefined;
}

/** A listener: a host name on a port, and what it answers. */
export interface ListenerNode {
  /** Unique in the program, an identifier: what generated code calls it. */
  readonly id: string;
  /** What logs call it. */
  readonly name: string;
  /** `api.example.com`, `*.example.com`, or `*`. */
  readonly hostname: string;
  readonly tls: CertificateFiles | undefined;
  /** TLS of its own; absent: as the port has it. */
  readonly handshake?: TlsNode;
  readonly pathHandling: PathHandling;
  /** What decides about its connections, before there are requests. */
  readonly admission: readonly PolicyUse[];
  /** What happens to its requests before their route is chosen; undefined: nothing. */
  readonly preRouting: PreRoutingNode | undefined;
  readonly routes: readonly RouteNode[];
  /** The routing decision: entries in order of precedence, grouped by the hostname they need. */
  readonly table: readonly HostEntries[];
  readonly origin: Origin;
}

/** Whether paths go on in the one form that rules and routes see, or as they were sent. */
export type PathHandling = "canonical" | "verbatim";

/** The policies of a listener that run before the route is chosen, and may change which one it is. */
export interface PreRoutingNode {
  /** Unique in the program, an identifier: the function that runs them and, in kebab-case, its file. */
  readonly id: string;
  /** In request order. */
  readonly policies: readonly PolicyUse[];
  /** The last of them answers every request: there is no table behind them. */
  readonly isFinal: boolean;
  readonly origin: Origin;
}

/** The entries that one hostname opens, most specific hostname first. */
export interface HostEntries {
  /** As the routes have it: the listener may have but a part of it. */
  readonly hostname: string;
  /** The names that the listener has of it, as a pattern. */
  readonly shared: string;
  readonly entries: readonly RouteEntry[];
}

/** One match of one route. */
export interface RouteEntry {
  readonly match: RouteMatch;
  /** The route's id. */
  readonly route: string;
}

/** A route: a chain of policies and the backend behind it. */
export interface RouteNode {
  /** Unique in the program, an identifier: the route's function and, in kebab-case, its file. */
  readonly id: string;
  /** What logs and metrics call it. */
  readonly name: string;
  /** In request order. */
  readonly policies: readonly PolicyUse[];
  readonly backends: readonly RouteBackendNode[];
  /** What becomes of its requests without a backend; absent: it has one, or a policy responds. */
  readonly refusal?: RouteRefusal;
  readonly origin: Origin;
}

/** A backend of a route, and the policies about its own requests and responses. */
export type RouteBackendNode = BackendNode & { readonly ownPolicies?: readonly PolicyUse[] };

/** Why a route refuses its requests: a group has no route for them (404), or the rule names no backend (500). */
export type RouteRefusal = "notFound" | "noBackend";
