import type { TlsVersion } from "../../runtime/tls/tls-settings.ts";
import type { BackendConfig } from "../backends/index.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { AcmeAccount } from "../ir/acme.ts";
import type { DeploymentNode } from "../ir/deployment.ts";
import type { MeshNode } from "../ir/mesh.ts";
import type { PathHandling, ProcessNode, RouteRefusal } from "../ir/program.ts";
import type { RedisResource } from "../ir/store.ts";
import type { CertificateNode, ClientCertificatesNode } from "../ir/tls.ts";
import type { WorkloadApiNode } from "../ir/workload-api.ts";
import type { MatchRank, ValueMatchConfig } from "../model/matches.ts";
import type { CatalogSource } from "../model/model-prices.ts";
import type { PolicyConfig } from "../policies/index.ts";
import type { KeyExchangeGroup } from "../schema/key-exchange.ts";
import type { AccessLogConfig } from "./access-log.ts";
import type { CipherSuite, FrontendConfig } from "./frontend.ts";
import type { KeysApiConfig } from "./keys-api.ts";
import type { LevelsConfig } from "./log-levels.ts";
import type { TracingConfig } from "./tracing.ts";
import type { UsageConfig } from "./usage.ts";

/**
 * The common form of files and manifests: declared resources with names that are still strings, without aliases and
 * other spellings.
 */
export type Resource = GatewayResource | RouteResource | TcpRouteResource;

/** A gateway of the input: its name and all its resources. */
export interface GatewayResources {
  readonly name: string;
  readonly resources: readonly Resource[];
}

/** Declared resources that no gateway uses: they are only checked for mistakes. */
export interface UnservedResources {
  readonly policies: readonly PolicyConfig[];
  readonly backends: readonly RouteBackend[];
  readonly logLevels: readonly LevelsConfig[];
}

/** Definitions of functions, and their place. */
export interface CustomFunctionsConfig {
  readonly text: string;
  readonly origin: Origin;
}

/** A gateway and its listeners. */
export interface GatewayResource {
  readonly kind: "gateway";
  readonly process: ProcessNode;
  readonly frontend: FrontendConfig;
  /** Settings of ports that differ from it; absent if none do. */
  readonly portFrontends?: ReadonlyMap<number, FrontendConfig>;
  /** Functions that its expressions call; absent if there are none, and in files, where calls are replaced when they are read. */
  readonly customFunctions?: CustomFunctionsConfig;
  /** Settings of the access log; later filters and fields override earlier ones. */
  readonly accessLogs: readonly AccessLogConfig[];
  /** Tracing; `undefined` if nothing is traced. */
  readonly tracing: TracingConfig | undefined;
  /** Settings of log levels; the last one is used. */
  readonly logLevels: readonly LevelsConfig[];
  /** Sources of prices of models; absent if there are none. */
  readonly modelCatalog?: readonly CatalogSource[];
  /** Store that replicas share; absent if none is configured. */
  readonly store?: RedisResource | undefined;
  /** HTTP API for keys of the store; `undefined` if it is off. */
  readonly keysApi?: KeysApiConfig | undefined;
  /** Usage of models that is stored; `undefined` if none is. */
  readonly usage?: UsageConfig | undefined;
  /** Mesh that it belongs to; `undefined` if none. */
  readonly mesh?: MeshNode | undefined;
  /** Source of its own identity; `undefined` if none is configured. */
  readonly workloadApi?: WorkloadApiNode | undefined;
  /** Account at an ACME server; `undefined` if none is configured. */
  readonly acme?: AcmeAccount | undefined;
  /** Whether parameters that it names are missing or wrong, which has been reported. */
  readonly isPartial?: boolean;
  /** Deployment in a cluster; `undefined` for a standalone file. */
  readonly deployment?: DeploymentNode;
  /** Named backends that policies can refer to; empty for manifests, which refer to resources. */
  readonly backends: ReadonlyMap<string, RouteBackend>;
  readonly listeners: readonly ListenerResource[];
  readonly origin: Origin;
}

/** A listener as declared. */
export interface ListenerResource {
  /** Unique key within the gateway, which routes attach to. */
  readonly key: string;
  /** Name in logs. */
  readonly name: string;
  readonly port: number;
  /** Place of the port. */
  readonly portOrigin: Origin;
  /** IP address of the port; `undefined` for all addresses of the machine. */
  readonly address?: string | undefined;
  /**
   * PROXY protocol of its port and the place where it is configured; `undefined` for the setting of the gateway's
   * frontend.
   */
  readonly tunnel?: { readonly protocol: "direct" | "proxy"; readonly origin: Origin } | undefined;
  /** Hostname pattern; `*` for every name. */
  readonly hostname: string;
  readonly protocol: "HTTP" | "HTTPS" | "TLS" | "TCP";
  readonly tls: ListenerTlsResource | undefined;
  readonly pathHandling: PathHandlingResource | undefined;
  /** Whether parts of it have (reported) mistakes, so that something missing may be one of them. */
  readonly isPartial?: boolean;
  /** Policies that run before the route is chosen. */
  readonly policies: readonly PolicyConfig[];
  readonly origin: Origin;
}

/** Handling of request paths on the way to a backend. */
export interface PathHandlingResource {
  /** `canonical`, the default: the normalized path, which rules and routes see. `verbatim`: the path as sent. */
  readonly value: PathHandling;
  readonly origin: Origin;
}

/** TLS of a listener as declared; `undefined` fields default to those of the gateway's frontend. */
export interface ListenerTlsResource {
  readonly certificate: CertificateNode;
  /** Client certificates that are required; `undefined` if none. */
  readonly clients?: ClientCertificatesNode | undefined;
  readonly minVersion?: TlsVersion | undefined;
  readonly maxVersion?: TlsVersion | undefined;
  readonly cipherSuites?: readonly CipherSuite[] | undefined;
  readonly keyExchangeGroups?: readonly KeyExchangeGroup[] | undefined;
}

/** A backend of a route, and the policies for its own requests and responses. */
export type RouteBackend = BackendConfig & { readonly ownPolicies?: readonly PolicyConfig[] };

/** One route: conditions, policies and backends. */
export interface RouteResource {
  readonly kind: "route";
  /** Name that the user gave it, which appears in logs; `undefined` if there is none. */
  readonly name: string | undefined;
  /** Preferred names in generated code, the best first; derived from `name` if `undefined`. */
  readonly ids?: readonly string[];
  /** Listeners that serve it. */
  readonly listeners: readonly RouteAttachment[];
  /** Whether parts of it have (reported) mistakes, so that something missing may be one of them. */
  readonly isPartial?: boolean;
  readonly matches: readonly MatchConfig[];
  readonly policies: readonly PolicyConfig[];
  readonly backends: readonly RouteBackend[];
  /** Rules that delegate requests to it, the outermost first; `undefined` if there are none. */
  readonly way?: readonly Origin[];
  /** Response without a backend; `undefined` if that is a mistake, unless a policy responds. */
  readonly refusal?: RouteRefusal;
  readonly origin: Origin;
}

/** A route of connections whose bytes are passed through. */
export interface TcpRouteResource {
  readonly kind: "tcpRoute";
  readonly name: string | undefined;
  readonly ids?: readonly string[];
  /** Listeners that serve it; hostnames are server names. */
  readonly listeners: readonly RouteAttachment[];
  /** Whether parts of it have (reported) mistakes, so that something missing may be one of them. */
  readonly isPartial?: boolean;
  /** Policies: only authorization applies to connections. */
  readonly policies: readonly PolicyConfig[];
  readonly backends: readonly BackendConfig[];
  readonly origin: Origin;
}

/** A route on a listener. */
export interface RouteAttachment {
  /** Key of the listener. */
  readonly listener: string;
  /** Hostnames of the route on that listener; empty for all hostnames of the listener. */
  readonly hostnames: readonly string[];
}

/** One set of conditions of a route, as declared. */
export interface MatchConfig {
  readonly path: {
    readonly kind: "exact" | "prefix" | "regex";
    readonly value: string;
    /**
     * Patterns of the user that `value` consists of, each of which must compile; `undefined` if `value` is the user's.
     */
    readonly parts?: readonly string[];
  };
  readonly method: string | undefined;
  readonly headers: readonly ValueMatchConfig[];
  readonly query: readonly ValueMatchConfig[];
  /**
   * Matches of a route in a group: those of the delegating routes from the outermost on, then its own; `undefined`
   * outside of groups.
   */
  readonly ranks?: readonly MatchRank[];
  readonly origin: Origin;
}
