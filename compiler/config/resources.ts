import type { TlsVersion } from "../../runtime/tls/tls-settings.ts";
import type { BackendConfig } from "../backends/index.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { DeploymentNode } from "../ir/deployment.ts";
import type { MeshNode } from "../ir/mesh.ts";
import type { PathHandling, ProcessNode, RouteRefusal } from "../ir/program.ts";
import type { ClientCertificatesNode } from "../ir/tls.ts";
import type { MatchRank, ValueMatchConfig } from "../model/matches.ts";
import type { PolicyConfig } from "../policies/index.ts";
import type { AccessLogConfig } from "./access-log.ts";
import type { CipherSuite, FrontendConfig } from "./frontend.ts";
import type { LevelsConfig } from "./log-levels.ts";
import type { TracingConfig } from "./tracing.ts";

/**
 * Where the front ends meet: what the user declared, every name still a string. Aliases and spellings of one form or
 * the other are gone.
 */
export type Resource = GatewayResource | RouteResource | TcpRouteResource;

/** A gateway of the input: what it is called, and everything that belongs to it. */
export interface GatewayResources {
  readonly name: string;
  readonly resources: readonly Resource[];
}

/** What is declared and nothing serves: it is read for its mistakes, and nothing comes of it. */
export interface UnservedResources {
  readonly policies: readonly PolicyConfig[];
  readonly backends: readonly RouteBackend[];
  readonly logLevels: readonly LevelsConfig[];
}

/** A gateway and its listeners. */
export interface GatewayResource {
  readonly kind: "gateway";
  readonly process: ProcessNode;
  readonly frontend: FrontendConfig;
  /** What is said of the access log: a later filter or field counts instead of an earlier one. */
  readonly accessLogs: readonly AccessLogConfig[];
  /** What is traced; undefined: nothing. */
  readonly tracing: TracingConfig | undefined;
  /** What is said of log levels; the last one counts. */
  readonly logLevels: readonly LevelsConfig[];
  /** The mesh that it is a part of; absent: none. */
  readonly mesh?: MeshNode | undefined;
  /** How a cluster runs it; absent for a standalone file. */
  readonly deployment?: DeploymentNode;
  /** Backends with a name that policies may mean; empty for manifests, which name resources. */
  readonly backends: ReadonlyMap<string, RouteBackend>;
  readonly listeners: readonly ListenerResource[];
  readonly origin: Origin;
}

/** A listener as declared. */
export interface ListenerResource {
  /** Unique within the gateway: what routes attach to. */
  readonly key: string;
  /** What logs call it. */
  readonly name: string;
  readonly port: number;
  /** Where the port stands. */
  readonly portOrigin: Origin;
  /** The IP address that the port is open on; absent: every one of the machine. */
  readonly address?: string | undefined;
  /** Where its port says whether proxies tell for whom they make connections; absent: as the gateway's frontend has it. */
  readonly tunnel?: { readonly protocol: "direct" | "proxy"; readonly origin: Origin } | undefined;
  /** `*` for every name. */
  readonly hostname: string;
  readonly protocol: "HTTP" | "HTTPS" | "TLS" | "TCP";
  readonly tls: ListenerTlsResource | undefined;
  readonly pathHandling: PathHandlingResource | undefined;
  /** Parts of it have mistakes (reported): what is missing may be one of them. */
  readonly isPartial?: boolean;
  /** What happens before the route is chosen. */
  readonly policies: readonly PolicyConfig[];
  readonly origin: Origin;
}

/** What becomes of request paths on their way to a backend. */
export interface PathHandlingResource {
  /** `canonical`, the default: the one form that rules and routes see. `verbatim`: as they were sent. */
  readonly value: PathHandling;
  readonly origin: Origin;
}

/** TLS of a listener as declared; what is undefined comes from the gateway's frontend. */
export interface ListenerTlsResource {
  readonly cert: string;
  readonly key: string;
  /** What clients have to show; undefined: nothing. */
  readonly clients?: ClientCertificatesNode | undefined;
  readonly minVersion?: TlsVersion | undefined;
  readonly maxVersion?: TlsVersion | undefined;
  readonly cipherSuites?: readonly CipherSuite[] | undefined;
  /** True for a mounted Secret: only the cluster has it. */
  readonly isSecret?: boolean;
}

/** A backend of a route, and the policies about its own requests and responses. */
export type RouteBackend = BackendConfig & { readonly ownPolicies?: readonly PolicyConfig[] };

/** One route: conditions, policies and backends. */
export interface RouteResource {
  readonly kind: "route";
  /** The user's name, if there is one: what logs call it. */
  readonly name: string | undefined;
  /** What generated code may call it, the best name first; after `name` when absent. */
  readonly ids?: readonly string[];
  /** Where it is served. */
  readonly listeners: readonly RouteAttachment[];
  /** Parts of it have mistakes (reported): what is missing may be one of them. */
  readonly isPartial?: boolean;
  readonly matches: readonly MatchConfig[];
  readonly policies: readonly PolicyConfig[];
  readonly backends: readonly RouteBackend[];
  /** The rules that hand it its requests, the outermost first; absent: none. */
  readonly way?: readonly Origin[];
  /** What becomes of its requests without a backend; absent: that is a mistake, unless a policy responds. */
  readonly refusal?: RouteRefusal;
  readonly origin: Origin;
}

/** A route of connections whose bytes are passed on. */
export interface TcpRouteResource {
  readonly kind: "tcpRoute";
  readonly name: string | undefined;
  readonly ids?: readonly string[];
  /** Hostnames are server names. */
  readonly listeners: readonly RouteAttachment[];
  /** Parts of it have mistakes (reported): what is missing may be one of them. */
  readonly isPartial?: boolean;
  /** Authorization at most: nothing else acts on a connection. */
  readonly policies: readonly PolicyConfig[];
  readonly backends: readonly BackendConfig[];
  readonly origin: Origin;
}

/** A route on a listener. */
export interface RouteAttachment {
  /** The listener's key. */
  readonly listener: string;
  /** The hostnames it answers there. Empty: every one of the listener's. */
  readonly hostnames: readonly string[];
}

/** One set of conditions of a route, as declared. */
export interface MatchConfig {
  readonly path: {
    readonly kind: "exact" | "prefix" | "regex";
    readonly value: string;
    /** The user's patterns that `value` is made of, each of which has to compile alone; absent: `value` is the user's. */
    readonly parts?: readonly string[];
  };
  readonly method: string | undefined;
  readonly headers: readonly ValueMatchConfig[];
  readonly query: readonly ValueMatchConfig[];
  /** Of a route of a group: the matches on the way to it, the outermost first and its own at the end; absent: its own. */
  readonly ranks?: readonly MatchRank[];
  readonly origin: Origin;
}
