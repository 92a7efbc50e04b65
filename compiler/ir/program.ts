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
import type { AcmeNode } from "./acme.ts";
import type { AdminNode } from "./admin.ts";
import type { BackendNode } from "./backends.ts";
import type { DeploymentNode } from "./deployment.ts";
import type { KeysApiNode } from "./keys-api.ts";
import type { MeshNode } from "./mesh.ts";
import type { MetricLabelsNode } from "./metric-labels.ts";
import type { PolicyUse } from "./policies.ts";
import type { PortNode } from "./port.ts";
import type { StoreNode } from "./store.ts";
import type { TcpBindNode } from "./tcp.ts";
import type { CertificateNode, TlsNode } from "./tls.ts";
import type { TracingNode } from "./tracing.ts";
import type { UsageNode } from "./usage.ts";
import type { WorkloadApiNode } from "./workload-api.ts";

/** A gateway with nothing left to resolve: plain readonly data (`gwc build --print program`). */
export interface Program {
  /** Name of the gateway, in the output folder and in logs. */
  readonly name: string;
  /** Input files by their names in generated code, sorted. */
  readonly inputs: readonly ProgramInput[];
  readonly binds: readonly BindNode[];
  /** Ports whose connections are forwarded. */
  readonly tcp: readonly TcpBindNode[];
  readonly process: ProcessNode;
  /** Settings of client connections. */
  readonly connections: ConnectionSettings;
  /** Maximum size in bytes of a body that is buffered as a whole. */
  readonly maxBufferSize: number;
  /** The same for routes to models, whose requests contain pictures and long histories. */
  readonly maxModelBufferSize: number;
  /** Settings of access lines; `undefined` for the default fields of every request. */
  readonly accessLog?: AccessLogNode;
  /** Labels of requests in metrics; absent if none are configured. */
  readonly metricLabels?: MetricLabelsNode;
  /** Bodies that expressions of the log and of traces read; `undefined` if there are none. */
  readonly capturedBodies?: CapturedBodies;
  /** Header (lower case) with the id of each request; `undefined` if requests have no id. */
  readonly requestId?: string;
  /** Tracing; `undefined` if nothing is traced. */
  readonly tracing?: TracingNode;
  /** Log levels; `undefined` for the defaults. */
  readonly logLevels?: LogLevels;
  /** Mesh that it belongs to; `undefined` if none. */
  readonly mesh?: MeshNode;
  /** Source of its own identity; absent if nothing uses one. */
  readonly workloadApi?: WorkloadApiNode;
  /** Certificates that it orders; absent if there are none. */
  readonly acme?: AcmeNode;
  /** Store of state beyond a process; absent if nothing uses one. */
  readonly store?: StoreNode;
  /** HTTP API for keys of the store; absent if it is off. */
  readonly keysApi?: KeysApiNode;
  /** Usage of models that is stored; absent if none is. */
  readonly usage?: UsageNode;
  /** Deployment in a cluster; `undefined` for a standalone file. */
  readonly deployment?: DeploymentNode;
}

/** Contents of messages that reach the log or a collector. */
export interface CapturedBodies {
  readonly request: boolean;
  readonly response: boolean;
  /** Whether texts of completions are read from responses. */
  readonly completion: boolean;
  /** Whether tool calls of completions are read from responses. */
  readonly toolCalls: boolean;
  /** Whether the service tier is read from responses. */
  readonly serviceTier: boolean;
  /** Whether arguments, results or errors of MCP tool calls are read. */
  readonly toolCall: boolean;
  readonly origin: Origin;
}

/** An input file. */
export interface ProgramInput {
  readonly name: string;
  /** SHA-256 of the content, ignoring layout, in hex. */
  readonly sha256: string;
}

/** Settings of the whole process, in the form of the runtime. */
export interface ProcessNode {
  /** Format of log lines. */
  readonly logFormat: LogFormat;
  /** Destination of the audit log: a file, or the access log; `undefined` if it is disabled. */
  readonly audit?: { readonly file: string | undefined };
  readonly addresses: ServiceAddresses;
  /** Address of the admin page of `gwc run`: `host:port`, on loopback without a login, or `off`. A bundle has none. */
  readonly adminAddress: string;
  /** Access to that page from other machines; absent if there is none. */
  readonly admin?: AdminNode;
  readonly drain: DrainSettings;
  /** Number of threads; `undefined` for one. */
  readonly workers?: WorkerThreads;
  /** Maximum total size in bytes of buffered bodies; `undefined` for a share of the memory at startup. */
  readonly maxBufferedBytes?: number;
}

/** An HTTP port. */
export interface BindNode extends PortNode {
  /** TLS of connections without a server name; `undefined` for plain HTTP. */
  readonly tls: TlsNode | undefined;
  /** Listeners by precedence: exact hostnames, wildcards from the longest, then the one for every name. */
  readonly listeners: readonly ListenerNode[];
  /** All hostnames of the port, in the same order. */
  readonly hostnames: readonly HostnameNode[];
}

/** A hostname of a port and the id of its listener; `undefined` if `tcp` forwards its connections. */
export interface HostnameNode {
  readonly hostname: string;
  readonly listener: string | undefined;
}

/** A listener: a hostname on a port, and its routes. */
export interface ListenerNode {
  /** Identifier in generated code, unique in the program. */
  readonly id: string;
  /** Name in logs. */
  readonly name: string;
  /** `api.example.com`, `*.example.com`, or `*`. */
  readonly hostname: string;
  readonly tls: CertificateNode | undefined;
  /** TLS settings of its own; `undefined` for those of the port. */
  readonly handshake?: TlsNode;
  readonly pathHandling: PathHandling;
  /** Policies for its connections, before there are requests. */
  readonly admission: readonly PolicyUse[];
  /** Policies that run before the route is chosen; `undefined` if there are none. */
  readonly preRouting: PreRoutingNode | undefined;
  readonly routes: readonly RouteNode[];
  /** Routing table: entries by precedence, grouped by the hostname that they require. */
  readonly table: readonly HostEntries[];
  readonly origin: Origin;
}

/** Whether the normalized path is forwarded, or the path as sent. */
export type PathHandling = "canonical" | "verbatim";

/** Policies of a listener that run before the route is chosen, and can affect that choice. */
export interface PreRoutingNode {
  /** Identifier of the function that runs them, unique in the program, and in kebab case the name of its file. */
  readonly id: string;
  /** Policies in request order. */
  readonly policies: readonly PolicyUse[];
  /** Whether the last of them answers every request, so that there is no table. */
  readonly isFinal: boolean;
  readonly origin: Origin;
}

/** Entries of one hostname, the most specific hostname first. */
export interface HostEntries {
  /** Hostname of the routes, of which the listener may only have a part. */
  readonly hostname: string;
  /** Hostnames that the listener shares with it, as a pattern. */
  readonly shared: string;
  readonly entries: readonly RouteEntry[];
}

/** A match of a route. */
export interface RouteEntry {
  readonly match: RouteMatch;
  /** Id of the route. */
  readonly route: string;
}

/** A route: policies and the backends behind them. */
export interface RouteNode {
  /** Identifier of the function of the route, unique in the program, and in kebab case the name of its file. */
  readonly id: string;
  /** Name in logs and metrics. */
  readonly name: string;
  /** Policies in request order. */
  readonly policies: readonly PolicyUse[];
  readonly backends: readonly RouteBackendNode[];
  /** Response without a backend; `undefined` if it has one, or if a policy responds. */
  readonly refusal?: RouteRefusal;
  readonly origin: Origin;
}

/** A backend of a route, and the policies for its own requests and responses. */
export type RouteBackendNode = BackendNode & { readonly ownPolicies?: readonly PolicyUse[] };

/** Reason why a route refuses its requests: no route of a group matches (404), or the rule has no backend (500). */
export type RouteRefusal = "notFound" | "noBackend";
