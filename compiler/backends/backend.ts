import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import type { LabelSelector, Manifest, ManifestOf, ServicePort } from "../manifests/manifests.ts";
import type { PolicyFields } from "../manifests/policy.ts";
import type { BackendReference } from "../manifests/routes.ts";
import type { SettingsChange } from "../model/access.ts";
import type { BackendPolicies } from "../model/backend-policies.ts";
import type { Rule } from "../model/rules.ts";
import type { ServerConfig } from "../model/server-policies.ts";
import type { Text } from "../model/texts.ts";
import type { LockableServer, LockedTarget, ToolLockNode } from "../model/tool-lock.ts";
import type { ToolSetForm } from "../model/tool-sets.ts";
import type { Section, Traffic } from "../model/traffic.ts";
import type { ConnectionUseNode } from "../model/user-connections.ts";
import type { Schema } from "../schema/schema.ts";
import type { PromptGuardNode, TextHooks } from "./ai/guards.ts";
import type { InferencePoolConfig } from "./inference-pool/inference-pool-config.ts";
import type { BackendProtocol } from "./parts/backend-protocol.ts";
import type { BackendResolveContext } from "./parts/backend-resolve-context.ts";
import type { ConnectionContext } from "./parts/connection.ts";
import type { BackendPoliciesValue } from "./parts/policies-schema.ts";
import type { TryRequest } from "./parts/try-request.ts";

/**
 * The build-time part of a kind of backend; the other parts are in templates/backends, under the same file name,
 * and in the runtime. It defines what the configuration means. `Config` is the canonical form of the
 * configuration, `Node` what the template receives.
 */
export interface Backend<
  Kind extends string,
  Value,
  Config,
  Node,
  TcpNode = never,
  KubernetesValue = never,
> {
  readonly kind: Kind;
  /** Its effect, as a phrase that continues a sentence with the subject "It". */
  readonly summary: string;
  /** Returns the schema of its value in a file; `policies` is that of the connection policies of a single server. */
  readonly schema: (policies: Schema<BackendPoliciesValue>) => Schema<Value>;
  /** Schema behind a TCP route; absent if it only serves requests. */
  readonly tcpSchema?: Schema<Value>;
  /** Whether named backends of a file may be of this kind. */
  readonly isNameable?: true;
  /** Converts the validated value to canonical form. */
  readonly lower: (value: Value, context: LowerContext) => Config;
  /** Form in Kubernetes manifests; absent if it has none. */
  readonly kubernetes?: KubernetesBackendForm<KubernetesValue, Config>;
  /**
   * Reads other resources that routes may send to, besides Services and GatewayBackends; returns `undefined` if
   * the resource is of another kind or has a mistake (reported).
   */
  readonly ofResource?: (manifest: Manifest, context: ResourceContext) => Config | undefined;
  /** Protocol of the requests to it. */
  readonly protocol: BackendProtocol;
  /**
   * Adds policies of its only server that apply to all of its requests, such as their types; absent if servers have no
   * such policies.
   */
  readonly withServerPolicies?: (
    policies: BackendPolicies | undefined,
    config: Config,
  ) => BackendPolicies | undefined;
  /** Returns the traffic behind a route with it, per server. */
  readonly carries: (use: CarryingBackend<Config>) => readonly CarriedTraffic[];
  /** Which others a route may distribute its requests over by weight; `undefined` for none. */
  readonly takesWeight?: "withOthers" | "withItsKind";
  /** Returns what chooses the server for each request, so that access rules are required; absent if it is fixed. */
  readonly chosenBy?: (config: Config) => "host" | "expression";
  /** Returns the ports that clients may open tunnels to (CONNECT); `undefined` if none. */
  tunnelPorts?(node: Node): readonly number[] | undefined;
  /** Names that its generated code declares, each possibly followed by a number; routes get other names. */
  readonly names?: readonly string[];
  /** Returns complete settings for the template; `undefined` if a mistake was reported. */
  readonly resolve: (use: BackendUse<Config>, context: BackendResolveContext) => Node | undefined;
  /** Returns the connections of users whose tokens its servers get; absent if none. */
  userConnections?(node: Node): readonly ConnectionUseNode[];
  /** Whether the client's own token is forwarded to it; backends of one route must agree. */
  passesToken?(node: Node): boolean;
  /** Resolves it behind a TCP route; absent if it only serves requests. */
  readonly resolveTcp?: (
    use: BackendUse<Config>,
    context: ConnectionContext,
  ) => TcpNode | undefined;
  /** Returns its server, for requests that policies send themselves; absent if it is not a single server. */
  serverAddress?(config: Config): Text;
  /** Whether its address is a single server and not a name of possibly several; absent if there is no address. */
  isOneServer?(config: Config): boolean;
  /** Whether its requests use LLM tokens that are counted; absent if none do. */
  spendsTokens?(use: BackendUse<Config>): boolean;
  /**
   * Returns the complete list of model names that clients can use (at most one `*`, at an end); absent if there is
   * no such list.
   */
  modelNames?(config: Config): readonly string[] | undefined;
  /** Returns the rules that some of its servers have, which not every request of a route has to pass; absent if none. */
  partialRules?(node: Node): readonly PartialRules[];
  /** Returns the models that it serves, with their rules; absent if it serves none. */
  ruledModels?(node: Node): readonly RuledModel[];
  /** Returns the MCP servers whose items rules can distinguish by name; absent if it has no items. */
  itemTargets?(config: Config): ItemTargets;
  /** Returns the policies of single servers in a file, by the names of the servers; absent if servers have none. */
  serverPolicies?(config: Config): readonly ServerPoliciesValue[];
  /** Tool lock of the items that its servers list; absent if it has none. */
  readonly toolLock?: ToolLockForm<Node>;
  /** Tools that clients see in another way than servers list them; absent if there are none. */
  readonly toolSets?: ToolSetForm<Node>;
  /** Returns the servers that are started as child processes. */
  startedServers?(node: Node): readonly StartedServer[];
  /** Prompt guards of its requests and responses; absent if it has none. */
  readonly promptGuards?: PromptGuardForm<Node>;
  /** Returns the caches whose responses several callers may get; absent if it has none. */
  sharedCaches?(node: Node): readonly SharedCache[];
  /** Responses that replicas share in the store; absent if they never do. */
  readonly responsePools?: ResponsePools<Node>;
  /** Whether calls or sessions wait for clients, whose messages replicas pass on to each other through the store. */
  readonly hasWaitingCalls?: true;
  /** Describes its servers, one line each. */
  describe(node: Node): readonly BackendLine[];
  /** Describes the server of its connections. */
  describeTcp?(node: TcpNode): BackendLine;
  /** Returns a shell command with an example request to a route with it. */
  tryCommand(request: TryRequest, node: Node): string;
}

/** Pools of responses that replicas share in the store. */
export interface ResponsePools<Node> {
  areUsed(node: Node): boolean;
  /** Returns the node with a name for its pools. */
  named(node: Node, pool: string): Node;
}

/** A cache whose responses several callers may get. */
export interface SharedCache {
  /** Expression; callers with the same value share responses. */
  readonly key: string;
  /** Whether they also get the responses to similar requests. */
  readonly isSimilar: boolean;
  readonly origin: Origin;
}

/** Rules about part of the requests to a backend. */
export interface PartialRules {
  readonly rules: readonly Rule[];
  readonly origin: Origin;
}

/** A model, by the name that clients use. */
export interface RuledModel {
  /** Name with at most one `*`, or `*` for any model. */
  readonly name: string;
  /** Alternative rules, one of which must allow a caller; empty if everybody may use it who may use the route. */
  readonly anyOf: readonly PartialRules[];
}

/** `policies` of one server of a backend in a file, as validated. */
export interface ServerPoliciesValue {
  /** Name of the server. */
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly origin: Origin;
}

/** The servers of a backend whose items are listed together. */
export interface ItemTargets {
  readonly names: readonly string[];
  /** Whether clients see items prefixed with the name of their server; rules never do. */
  readonly arePrefixes: boolean;
}

/** Access to the prompt guards of a kind of backend. */
export interface PromptGuardForm<Node> {
  of(node: Node): readonly GuardedServer[];
  without(node: Node): Node;
  /** Returns the backend with hooks of the route's policies behind its guards; `undefined` if a mistake was reported. */
  withHooks(node: Node, hooks: TextHooks, diagnostics: Diagnostics): Node | undefined;
}

/** A server of a backend with its prompt guard; `undefined` if none. */
export interface GuardedServer {
  readonly name: string;
  readonly guard: PromptGuardNode | undefined;
}

/** Access to the tool locks of a kind of backend. */
export interface ToolLockForm<Node> {
  /** Returns the lock; `undefined` if the items are not locked. */
  of(node: Node): ToolLockNode | undefined;
  without(node: Node): Node;
  servers(node: Node): readonly LockableServer<Node>[];
  /** Compares which items two locks show to clients. */
  changes(
    before: readonly LockedTarget[],
    after: readonly LockedTarget[],
  ): readonly SettingsChange[];
}

/** The parts of a backend that determine the traffic behind its route. */
export type CarryingBackend<Config> = Pick<BackendUse<Config>, "config" | "policies">;

/** Traffic of one server of a backend, on which policies can act. */
export interface CarriedTraffic {
  readonly traffic: readonly Traffic[];
  /** Connection policies of the server; absent if the same as the backend's. */
  readonly own?: BackendPolicies | undefined;
  /** Other sections of the server's configuration. */
  readonly sections?: readonly Section[];
}

/** Services that a backend can use while it is lowered. */
export interface LowerContext {
  readonly origin: Origin;
  /** Reads the connection policies of a server; returns `undefined` if it has none. */
  readonly policies: (
    value: BackendPoliciesValue | undefined,
    origin: Origin,
  ) => BackendPolicies | undefined;
}

/** Form of a kind of backend in a GatewayBackend. */
export interface KubernetesBackendForm<Value, Config> {
  /** Its field in the resource. */
  readonly field: string;
  /** Other fields of the same shape, which say the protocol of the backend, with their descriptions. */
  readonly protocolFields?: Readonly<Record<string, string>>;
  /** Returns the schema of that field. */
  readonly schema: (policies: KubernetesPoliciesSchema) => Schema<Value>;
  /** Reads the configuration and its sections. */
  readonly lower: (
    value: Value,
    context: KubernetesBackendContext,
  ) => KubernetesBackendParts<Config>;
  /** Returns the names of sections that policies can target. */
  readonly sectionNames?: (value: Value) => readonly string[];
  /** Adds policies to a configuration, by the names of its sections. */
  readonly withPolicies?: (
    config: Config,
    policies: ReadonlyMap<string, BackendPolicies>,
  ) => Config;
  /** Adds the servers of the sections that lead to pools, by the names of the sections. */
  readonly withPools?: (config: Config, pools: ReadonlyMap<string, InferencePoolConfig>) => Config;
  /** Refuses sections with mistakes, so that the others can be served; the same configuration if there are none. */
  readonly withoutBroken?: (
    config: Config,
    isBroken: (origin: Origin) => boolean,
    place: Origin,
  ) => Config;
}

/** Returns the schema of the policies of a GatewayBackend's section, with the fields that it may have. */
export type KubernetesPoliciesSchema = (
  names: readonly ("tcp" | "tls" | "http" | "auth" | "tunnel" | "health" | "mcp" | "ai")[],
) => Schema<PolicyFields>;

/** A GatewayBackend as read. */
export interface KubernetesBackendParts<Config> {
  readonly config: Config;
  /** Its sections by name in the configuration; empty if it is a single server. */
  readonly sections: ReadonlyMap<string, BackendSection>;
}

/** A section of a backend with its own policies. */
export interface BackendSection {
  /** Name that policies refer to. */
  readonly name: string;
  /** The Service or pool that it leads to; absent if it names a host. */
  readonly service?: SelectedServer;
  /** The GatewayModel that the section is; absent if it is a part of the backend's own resource. */
  readonly manifest?: ManifestOf<"GatewayModel">;
  /** Policies in the section itself; absent if none. */
  readonly own?: { readonly fields: PolicyFields; readonly origin: Origin };
}

/** A port of a Service. */
export interface SelectedPort {
  readonly service: ManifestOf<"Service">;
  readonly port: ServicePort;
}

/** A port of a Service, or of the pods of a pool. */
export interface SelectedServer {
  readonly service: ManifestOf<"Service" | "InferencePool">;
  readonly port: ServicePort;
}

/** A reference to a resource of the same namespace. */
export type LocalReference = Omit<BackendReference, "namespace">;

/** Selects Services by their labels and those of their namespaces; `undefined` for all of the backend's namespace. */
export type ServiceSelector =
  | { readonly namespaces?: LabelSelector; readonly services?: LabelSelector }
  | undefined;

/** Services that a backend can use while its manifest is read. */
export interface KubernetesBackendContext {
  /** Location of its specification. */
  readonly origin: Origin;
  readonly diagnostics: Diagnostics;
  /** Returns the Services that a selector of the backend matches. */
  readonly services: (selector: ServiceSelector) => readonly ManifestOf<"Service">[];
  /**
   * Returns a port of a Service in its namespace, the only one by default; `undefined` if there is none (reported).
   * `places` are the locations of the reference, and of the object with its port.
   */
  readonly servicePort: (
    name: string,
    port: number | undefined,
    places: { readonly reference: Origin; readonly portOwner: Origin },
  ) => SelectedPort | undefined;
  /** Returns the Service or pool of a reference in its namespace; `undefined` if it is missing (reported). */
  readonly server: (reference: LocalReference, origin: Origin) => SelectedServer | undefined;
  /** Returns a ConfigMap of its namespace; its manifest is `undefined` if it is not in the input. */
  readonly configMap: (name: string) => {
    readonly namespace: string;
    readonly manifest: ManifestOf<"ConfigMap"> | undefined;
  };
  /** Returns the `HOST:PORT` of a Service's port. */
  readonly address: (selected: SelectedPort, origin: Origin) => string;
  /** Returns a resource's name in messages. */
  readonly nameOf: (service: ManifestOf<"Service">) => string;
}

/** Services that a backend can use if it is a resource of its own. */
export interface ResourceContext {
  readonly diagnostics: Diagnostics;
  /** Returns the Services of a namespace, by name. */
  readonly servicesIn: (namespace: string) => readonly ManifestOf<"Service">[];
  /** Returns a Service's host name in the cluster. */
  readonly hostOf: (service: ManifestOf<"Service">) => string;
  /** Returns a host name for the resource's own pods; absent if nothing resolves such names. */
  readonly podsHost?: (manifest: Manifest) => string;
  /** Returns the server of a reference in the resource; `undefined` if it is unknown (reported). */
  readonly server: (reference: BackendReference, origin: Origin) => ServerConfig | undefined;
  /** Returns a resource's name in messages. */
  readonly nameOf: (manifest: Manifest) => string;
}

/** A configured backend of any kind. */
export interface BackendUse<Config> {
  readonly config: Config;
  /** Connection policies, including those of its route; absent if none are configured. */
  readonly policies?: BackendPolicies;
  /** Set if the Host header of requests is the client's; absent if it is so only for backends without a host name. */
  readonly keepsHost?: true;
  /** Weight relative to other backends; 1 if absent. */
  readonly weight?: number;
  /** Whether parts of it were omitted because of mistakes. */
  readonly isPartial?: boolean;
  /** Set if its reference is a mistake (reported); its share of the requests gets 500. */
  readonly isRefused?: true;
  readonly origin: Origin;
}

/** A server that the gateway starts. */
export interface StartedServer {
  readonly command: string;
  readonly args: readonly Text[];
  /** Location of its `cmd` and `args`. */
  readonly origin: Origin;
}

/** Description of a backend's server, for people. */
export interface BackendLine {
  /** Kind or configured name of the server. */
  readonly label?: string;
  readonly address?: Text;
  /** Key of its state while the gateway runs; absent if there is no choice between servers. */
  readonly server?: string;
  /** Description of its ejection. */
  readonly rest?: string;
}
