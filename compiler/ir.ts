import type { DrainSettings, ServiceAddresses } from "../runtime/gateway/definition.ts";
import type { ConnectionSettings, KeepAliveSettings } from "../runtime/http/connection-settings.ts";
import type { AlpnProtocol, TlsVersion } from "../runtime/http/tls.ts";
import type { UpstreamTlsSettings } from "../runtime/http/upstream-tls.ts";
import type { LogLevels } from "../runtime/telemetry/log-level.ts";
import type { LogFormat } from "../runtime/telemetry/log-line.ts";
import type { Origin } from "./diagnostics.ts";

/**
 * A CEL expression, checked and compiled. Plain data: templates print it, `--print program` shows it.
 * Made by cel/compile.ts.
 */
export interface CompiledExpression {
  /** The expression as the user wrote it, on one line. */
  readonly source: string;
  /** The static type: `bool`, `dyn`, `list(string)`, ... */
  readonly type: string;
  /**
   * The variables the code reads, sorted: `["jwt", "mcp"]`. The emitting template destructures exactly these from the
   * function's input, under these names.
   */
  readonly variables: readonly string[];
  /** The paths it reads, for what the route has to collect: `["request", "body"]`, `["jwt", "sub"]`. */
  readonly reads: readonly (readonly string[])[];
  /** Fields of variables without which it cannot be true, sorted: `mcp.tool`. */
  readonly needs: readonly string[];
  /** The TypeScript expression for the slot it was compiled for. */
  readonly code: ExpressionCode;
}

/** TypeScript text with what it needs around it. */
export interface ExpressionCode {
  /** An expression; at most 90 columns a line, continuation lines unindented. */
  readonly text: string;
  /** What it imports from the runtime. */
  readonly imports: readonly ImportedName[];
  /** Module constants it refers to by name (sets, compiled patterns); the names are unique within an expression. */
  readonly constants: readonly HoistedConstant[];
}

/** A name that emitted code imports. */
export interface ImportedName {
  /** `gwc/runtime/cel/select` */
  readonly module: string;
  readonly name: string;
  /** True for a type. */
  readonly isType?: boolean;
}

/** A module constant that an emitted expression refers to. */
export interface HoistedConstant {
  /** A proposal, camelCase; the module that prints it may append a number to keep names apart. */
  readonly name: string;
  /** The type annotation, when the initializer doesn't say it. */
  readonly type?: string;
  /** The initializer. */
  readonly text: string;
  readonly imports: readonly ImportedName[];
}

/** Text with parts that the gateway reads from its environment when it starts. */
export interface LateText {
  readonly kind: "late";
  readonly parts: readonly (string | LateVariable)[];
}

/** `${NAME}` or `${NAME:-fallback}` of the configuration. */
export interface LateVariable {
  readonly env: string;
  readonly fallback?: string;
}

/** A text that is known at build time, or read at start. */
export type Text = string | LateText;

/** KEY of a mounted Secret or ConfigMap, as NAME/KEY; or the path of another file. */
export interface MountedFile {
  readonly kind: "secret" | "configMap" | "path";
  readonly file: string;
}

/** Runtime settings as the compiler holds them: any text in them may be late. */
export type Late<Settings> = Settings extends string
  ? string extends Settings
    ? Text
    : Settings
  : Settings extends readonly (infer Item)[]
    ? readonly Late<Item>[]
    : Settings extends object
      ? { readonly [Key in keyof Settings]: Late<Settings[Key]> }
      : Settings;

/** What a gateway does, with nothing left to look up: plain readonly data (`gwc build --print program`). */
export interface Program {
  /** The gateway's name: the output folder's, the log's. */
  readonly name: string;
  /** The input files by name in generated text, sorted. */
  readonly inputs: readonly ProgramInput[];
  readonly binds: readonly BindNode[];
  /** Ports whose bytes are passed on. */
  readonly tcp: readonly TcpBindNode[];
  readonly process: ProcessSettings;
  /** How the connections of clients are held. */
  readonly connections: ConnectionSettings;
  /** The most bytes of a body that is read as a whole. */
  readonly maxBufferSize: number;
  /** What access lines hold; absent: the usual, of every request. */
  readonly accessLog?: AccessLogNode;
  /** How much is logged; absent: as usual. */
  readonly logLevels?: LogLevels;
  /** What runs it in a cluster; undefined for a gateway that a standalone file describes. */
  readonly deployment?: DeploymentNode;
}

/** Access lines that are not the usual ones. */
export interface AccessLogNode {
  /** Undefined: every request has a line. */
  readonly filter: CompiledExpression | undefined;
  /** Where the filter stands; that of the fields without one. */
  readonly filterOrigin: Origin;
  /** Undefined: the usual fields. */
  readonly fields: LogFieldsNode | undefined;
}

/** The fields of access lines. */
export interface LogFieldsNode {
  /** Those that are left out, as named: of lines of connections too. */
  readonly removed: readonly string[];
  /** Those of every request that stay, in their order. */
  readonly usual: readonly LineField[];
  /** Names that are left out of what policies and backends add. */
  readonly without: readonly string[];
  readonly added: readonly AddedField[];
  readonly origin: Origin;
}

/** A field of access lines by its expression. */
export interface AddedField {
  readonly name: string;
  readonly value: CompiledExpression;
}

/** A field that every access line may have. */
export type LineField =
  | "listener"
  | "route"
  | "endpoint"
  | "src.addr"
  | "http.method"
  | "http.host"
  | "http.path"
  | "http.version"
  | "http.status"
  | "reason"
  | "duration";

/** How a cluster runs a gateway. */
export interface DeploymentNode {
  readonly name: string;
  readonly namespace: string;
  readonly className: string;
  /** Labels and annotations of everything that is generated. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The image of the parameters; undefined: they name none. */
  readonly image: string | undefined;
  readonly pullPolicy: string | undefined;
  /** Environment and compute resources of the container, as Kubernetes has them. */
  readonly env: readonly Json[];
  readonly resources: Json | undefined;
  /** Names of the Secrets that are mounted, sorted. */
  readonly secrets: readonly string[];
  /** Names of the ConfigMaps that are mounted, sorted. */
  readonly configMaps: readonly string[];
  /** Overlays by what they change, in the order in which they are laid on. */
  readonly overlays: Readonly<Record<OverlaidResource, readonly Overlay[]>>;
  readonly origin: Origin;
}

/** What overlays can change. */
export type OverlaidResource =
  | "deployment"
  | "service"
  | "serviceAccount"
  | "podDisruptionBudget"
  | "horizontalPodAutoscaler";

/** A part of a Kubernetes resource that is merged into the generated one. */
export interface Overlay {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Json;
}

/** Any JSON. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** An input file. */
export interface ProgramInput {
  readonly name: string;
  /** SHA-256 of the content (not of its layout), hex. */
  readonly sha256: string;
}

/** Settings of the whole process, as the runtime takes them. */
export interface ProcessSettings {
  /** How lines are written. */
  readonly logFormat: LogFormat;
  readonly addresses: ServiceAddresses;
  /** Where `gwc run` serves its admin page: a loopback `host:port`. A bundle has none. */
  readonly adminAddress: string;
  readonly drain: DrainSettings;
}

/** One port. */
export interface BindNode {
  readonly port: number;
  readonly origin: Origin;
  /** What its TLS listeners share; undefined: plain HTTP. */
  readonly tls: TlsNode | undefined;
  /** In order of precedence: exact hostnames, wildcards from the longest, then the one for every name. */
  readonly listeners: readonly ListenerNode[];
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
  /** What happens to its requests before their route is chosen; undefined: nothing. */
  readonly preRouting: PreRoutingNode | undefined;
  readonly routes: readonly RouteNode[];
  /** The routing decision: entries in order of precedence, grouped by the hostname they need. */
  readonly table: readonly HostEntries[];
  readonly origin: Origin;
}

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

/** One port whose bytes are passed on. */
export interface TcpBindNode {
  readonly port: number;
  readonly origin: Origin;
  readonly mode: TcpMode;
  /** As those of HTTP; one alone without TLS, which names nobody. */
  readonly listeners: readonly TcpListenerNode[];
}

/** What becomes of TLS on a port whose bytes are passed on; `handshakeTimeout` is in milliseconds. */
export type TcpMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  | { readonly kind: "terminate"; readonly tls: TlsNode };

/** A listener of such a port. */
export interface TcpListenerNode {
  readonly id: string;
  readonly name: string;
  /** What server names it answers for; `*`: every one, and none. */
  readonly hostname: string;
  readonly tls: CertificateFiles | undefined;
  readonly routes: readonly TcpRouteNode[];
  /** Which route a server name leads to, in order of precedence. */
  readonly table: readonly { readonly hostname: string; readonly route: string }[];
  readonly origin: Origin;
}

/** A route of connections. */
export interface TcpRouteNode {
  readonly id: string;
  readonly name: string;
  /** Authorization, if there is one. */
  readonly policies: readonly PolicyUse[];
  readonly backends: readonly TcpBackendNode[];
  readonly origin: Origin;
}

/** Where connections go. */
export type TcpBackendNode = { readonly connection: TcpConnection; readonly origin: Origin } & (
  | {
      readonly kind: "host";
      /** `host:port` */
      readonly address: Text;
      readonly weight: number;
    }
  | {
      readonly kind: "dynamic";
      readonly port: number;
      readonly allowPrivate: readonly string[];
    }
);

/** How they are passed on; times in milliseconds. */
export interface TcpConnection
  extends Pick<BackendConnection, "connectTimeout" | "keepAlive" | "tls"> {
  /** What is offered in ALPN; undefined: nothing. */
  readonly alpn?: readonly string[];
}

/** TLS of a port, as the runtime takes it, without the certificates of its listeners. */
export interface TlsNode {
  /** Milliseconds. */
  readonly handshakeTimeout: number;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** OpenSSL's names. */
  readonly cipherSuites: readonly string[];
  readonly alpn: readonly AlpnProtocol[];
  /** The path, as configured, of the authorities that sign client certificates. */
  readonly clientAuthorities: string | undefined;
}

/** A listener's certificate and key: paths as configured, read when the gateway starts. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** The paths are NAME/KEY of mounted Secrets. */
  readonly isSecret?: boolean;
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

/** One set of conditions; all must hold (Gateway API HTTPRouteMatch). */
export interface RouteMatch {
  readonly path: PathMatch;
  readonly method: string | undefined;
  readonly headers: readonly ValueMatch[];
  readonly query: readonly ValueMatch[];
  /** True for a match that a policy needs and the user did not write (the OAuth metadata of an MCP route). */
  readonly isDerived: boolean;
  readonly origin: Origin;
}

/** What the path must be. */
export type PathMatch =
  | { readonly kind: "exact"; readonly value: string }
  | { readonly kind: "prefix"; readonly value: string }
  | {
      readonly kind: "regex";
      readonly value: string;
      readonly test: ExpressionCode;
      /** True when the test is alternatives joined by `||`: beside other conditions it needs parentheses. */
      readonly isChoice: boolean;
    };

/** A header (lower-case name) or query parameter, and what its value must be. */
export interface ValueMatch {
  readonly name: string;
  readonly value:
    | { readonly kind: "exact"; readonly value: string }
    | { readonly kind: "regex"; readonly value: string; readonly test: ExpressionCode };
}

/** A route: a chain of policies and the backend behind it. */
export interface RouteNode {
  /** Unique in the program, an identifier: the route's function and, in kebab-case, its file. */
  readonly id: string;
  /** What logs and metrics call it. */
  readonly name: string;
  /** In request order. */
  readonly policies: readonly PolicyUse[];
  readonly backends: readonly BackendNode[];
  readonly origin: Origin;
}

/**
 * What each policy's `resolve` makes for its template, by kind. Every `policies/x.ts` adds its own line by declaration
 * merging, so a policy is added without an edit here.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the policies
export interface PolicySettings {}

/** The name of a policy, as it stands in the configuration. */
export type PolicyKind = keyof PolicySettings;

/** A policy of a route, resolved. */
export type PolicyUse<Kind extends PolicyKind = PolicyKind> = {
  [Each in Kind]: {
    readonly kind: Each;
    readonly settings: PolicySettings[Each];
    readonly origin: Origin;
  };
}[Kind];

/** An authorization rule. */
export interface Rule {
  readonly action: "allow" | "deny" | "require";
  readonly expression: CompiledExpression;
  /**
   * The kinds of MCP items without which the rule cannot be true. A deny or require rule is not about other items:
   * `deny: mcp.tool.name == "x"` leaves prompts alone, although reading the tool of a prompt is an error.
   */
  readonly about: readonly ("tool" | "prompt" | "resource")[];
  readonly origin: Origin;
}

/** Where a route's requests go. */
export type BackendNode = HostBackend | DynamicBackend | McpBackend;

/** A plain HTTP upstream. */
export interface HostBackend {
  readonly kind: "host";
  readonly url: Text;
  readonly connection: BackendConnection;
  /** Its share of the route's requests, in relation to the others'; 0: none. */
  readonly weight: number;
  readonly origin: Origin;
}

/** The host that each request names (dynamic forward proxy). */
export interface DynamicBackend {
  readonly kind: "dynamic";
  /** The port of a request that names none. */
  readonly port: number;
  /** Addresses and ranges that may be reached although they are not public. */
  readonly allowPrivate: readonly string[];
  readonly connection: BackendConnection;
  readonly origin: Origin;
}

/** How a backend is reached; times in milliseconds. */
export interface BackendConnection {
  readonly connectTimeout: number;
  readonly keepAlive?: KeepAliveSettings;
  /** Undefined: as the URL's scheme says. */
  readonly tls?: BackendTlsNode;
  /** Undefined: HTTP/1.1. */
  readonly version?: "http2" | "negotiated";
  readonly requestTimeout?: number;
  /** What every request says in Authorization. */
  readonly authorization?: Text | MountedFile;
  /** It is asked by the name that the client used; absent: unless it has a name of its own. */
  readonly keepsHost?: boolean;
  /** The client's own Authorization goes on, although a policy has taken it. */
  readonly isPassthrough: boolean;
}

/** TLS to a backend; paths are as configured. */
export type BackendTlsNode = Omit<Late<UpstreamTlsSettings>, UpstreamTlsFile> & {
  readonly [File in UpstreamTlsFile]?: Text | MountedFile;
};

type UpstreamTlsFile = "authorities" | "certFile" | "keyFile";

/** One or more MCP servers behind one endpoint. */
export interface McpBackend {
  readonly kind: "mcp";
  readonly isStateful: boolean;
  readonly failureMode: "failClosed" | "failOpen";
  readonly prefixMode: "conditional" | "always";
  readonly targets: readonly McpTarget[];
  readonly origin: Origin;
}

/** One MCP server behind a backend. */
export type McpTarget = { readonly name: string; readonly origin: Origin } & (
  | {
      readonly kind: "streamable" | "sse";
      readonly url: Text;
      readonly connection: BackendConnection;
    }
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly Text[];
      readonly env: Readonly<Record<string, Text>>;
    }
);
