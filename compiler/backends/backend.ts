import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import type { LabelSelector, Manifest, ManifestOf, ServicePort } from "../manifests/manifests.ts";
import type { PolicyFields } from "../manifests/policy.ts";
import type { BackendReference } from "../manifests/routes.ts";
import type { SettingsChange } from "../model/access.ts";
import type { BackendPolicies } from "../model/backend-policies.ts";
import type { ServerConfig } from "../model/server-policies.ts";
import type { Text } from "../model/texts.ts";
import type { LockableServer, LockedTarget, ToolLockNode } from "../model/tool-lock.ts";
import type { Section, Traffic } from "../model/traffic.ts";
import type { Schema } from "../schema/schema.ts";
import type { PromptGuardNode } from "./ai/guards.ts";
import type { BackendProtocol } from "./parts/backend-protocol.ts";
import type { BackendResolveContext } from "./parts/backend-resolve-context.ts";
import type { ConnectionContext } from "./parts/connection.ts";
import type { BackendPoliciesValue } from "./parts/policies-schema.ts";
import type { TryRequest } from "./parts/try-request.ts";

/**
 * The build-time third of a kind of backend (the others: templates/backends, same file name, and the runtime's). What the
 * configuration means is said here and nowhere else. `Config` is what a user configures in its canonical form, `Node`
 * what the template takes.
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
  /** What it does, as the rest of a sentence that begins with "It". */
  readonly summary: string;
  /** The shape of its value in the file; `policies`: that of how one of its servers is reached. */
  readonly schema: (policies: Schema<BackendPoliciesValue>) => Schema<Value>;
  /** The same behind a route of connections; absent: it is about requests. */
  readonly tcpSchema?: Schema<Value>;
  /** A backend of the file with a name may be of this kind. */
  readonly isNameable?: true;
  /** The validated value in its canonical form. */
  readonly lower: (value: Value, context: LowerContext) => Config;
  /** What it is in Kubernetes manifests; absent: it is not part of that form. */
  readonly kubernetes?: KubernetesBackendForm<KubernetesValue, Config>;
  /**
   * What a resource is that routes may send to, besides Services and GatewayBackends; undefined: it is of another kind, or
   * has a mistake (reported).
   */
  readonly ofResource?: (manifest: Manifest, context: ResourceContext) => Config | undefined;
  /** What is spoken to it. */
  readonly protocol: BackendProtocol;
  /** What there is to act on behind a route with it, server by server. */
  readonly carries: (use: CarryingBackend<Config>) => readonly CarriedTraffic[];
  /** A route may have several, each with a share of its requests. */
  readonly takesWeight?: true;
  /** Clients choose what is reached through it: a rule has to say who may. */
  readonly isOpenProxy?: true;
  /** The ports that clients may open tunnels to through it (CONNECT); absent, or undefined: it takes none. */
  tunnelPorts?(node: Node): readonly number[] | undefined;
  /** Names that its generated code declares: no route is called so. A number may follow each. */
  readonly names?: readonly string[];
  /** Complete settings for the template, or undefined when a mistake was reported. */
  readonly resolve: (use: BackendUse<Config>, context: BackendResolveContext) => Node | undefined;
  /** Whether the client's own token goes on to it; of several on one route to all or none. */
  passesToken?(node: Node): boolean;
  /** What it is behind a route of connections; absent: it is about requests. */
  readonly resolveTcp?: (
    use: BackendUse<Config>,
    context: ConnectionContext,
  ) => TcpNode | undefined;
  /** The server that it is, for policies that send requests of their own there; absent: it is none. */
  serverAddress?(config: Config): Text;
  /** Whether its address is that of one server, and no name that may stand for several; absent: it is asked by none. */
  isOneServer?(config: Config): boolean;
  /** Whether requests use tokens of models that are counted; absent: none do. */
  spendsTokens?(use: BackendUse<Config>): boolean;
  /** The models that clients can ask for by name, where there are no others (one `*` at an end); absent: it has no such list. */
  modelNames?(config: Config): readonly string[] | undefined;
  /** The servers whose items rules tell apart by their names; absent: it has no items. */
  itemTargets?(config: Config): ItemTargets;
  /** Which of the items that its servers list are shown; absent: it has none. */
  readonly toolLock?: ToolLockForm<Node>;
  /** The servers that are started as child processes. */
  startedServers?(node: Node): readonly StartedServer[];
  /** What guards the texts of its requests and responses; absent: it has no texts. */
  readonly promptGuards?: PromptGuardForm<Node>;
  /** Where its requests go, a line for each server. */
  describe(node: Node): readonly BackendLine[];
  /** Where connections go through it. */
  describeTcp?(node: TcpNode): BackendLine;
  /** A shell command that tries a route with it, as a person would. */
  tryCommand(request: TryRequest, node: Node): string;
}

/** The servers behind a backend whose items are listed together. */
export interface ItemTargets {
  readonly names: readonly string[];
  /** Whether clients see the items with the name of their server before their own, which rules do not. */
  readonly arePrefixes: boolean;
}

/** How the texts of a backend's requests and responses are guarded. */
export interface PromptGuardForm<Node> {
  of(node: Node): readonly GuardedServer[];
  without(node: Node): Node;
}

/** A server of a backend, and what guards its texts; undefined: nothing does. */
export interface GuardedServer {
  readonly name: string;
  readonly guard: PromptGuardNode | undefined;
}

/** How the items of a backend are locked. */
export interface ToolLockForm<Node> {
  /** Undefined: they are not. */
  of(node: Node): ToolLockNode | undefined;
  without(node: Node): Node;
  servers(node: Node): readonly LockableServer<Node>[];
  /** What another lock shows to clients, or hides from them. */
  changes(
    before: readonly LockedTarget[],
    after: readonly LockedTarget[],
  ): readonly SettingsChange[];
}

/** A backend, as far as it says what there is behind a route with it. */
export type CarryingBackend<Config> = Pick<BackendUse<Config>, "config" | "policies">;

/** What one server of a backend has that sections can act on. */
export interface CarriedTraffic {
  readonly traffic: readonly Traffic[];
  /** How the server itself says it is reached; absent: as its backend. */
  readonly own?: BackendPolicies | undefined;
  /** What else it says of the requests to it. */
  readonly sections?: readonly Section[];
}

/** What a backend may ask while it is lowered. */
export interface LowerContext {
  readonly origin: Origin;
  /** How a server is reached that has policies of its own; undefined: nothing of it is said. */
  readonly policies: (
    value: BackendPoliciesValue | undefined,
    origin: Origin,
  ) => BackendPolicies | undefined;
}

/** A kind of backend as a GatewayBackend. */
export interface KubernetesBackendForm<Value, Config> {
  /** The field of the resource that is its own. */
  readonly field: string;
  /** The shape of that field. */
  readonly schema: (policies: KubernetesPoliciesSchema) => Schema<Value>;
  /** Its configuration and its parts. */
  readonly lower: (
    value: Value,
    context: KubernetesBackendContext,
  ) => KubernetesBackendParts<Config>;
  /** The parts that policies may target by name. */
  readonly sectionNames?: (value: Value) => readonly string[];
  /** The configuration with what policies say of how each part is reached, by the part's name in it. */
  readonly withPolicies?: (
    config: Config,
    policies: ReadonlyMap<string, BackendPolicies>,
  ) => Config;
}

/** What policies of a part of a GatewayBackend look like: the fields that such a part may have. */
export type KubernetesPoliciesSchema = (
  names: readonly ("tcp" | "tls" | "http" | "auth" | "tunnel" | "health" | "mcp" | "ai")[],
) => Schema<PolicyFields>;

/** A GatewayBackend as read. */
export interface KubernetesBackendParts<Config> {
  readonly config: Config;
  /** Its parts by their names in the configuration; none when it is one server. */
  readonly sections: ReadonlyMap<string, BackendSection>;
}

/** A part of a backend with policies of its own. */
export interface BackendSection {
  /** The name under which policies know it. */
  readonly name: string;
  /** The Service that a selector found. */
  readonly service?: SelectedPort;
  /** What it says of itself; absent: nothing. */
  readonly own?: { readonly fields: PolicyFields; readonly origin: Origin };
}

/** A port of a Service. */
export interface SelectedPort {
  readonly service: ManifestOf<"Service">;
  readonly port: ServicePort;
}

/** Which Services are meant, by their labels and those of their namespaces; undefined: all of this namespace. */
export type ServiceSelector =
  | { readonly namespaces?: LabelSelector; readonly services?: LabelSelector }
  | undefined;

/** What a backend may ask while its manifest is read. */
export interface KubernetesBackendContext {
  /** Where its specification stands. */
  readonly origin: Origin;
  readonly diagnostics: Diagnostics;
  /** The Services that a selector of the backend means. */
  readonly services: (selector: ServiceSelector) => readonly ManifestOf<"Service">[];
  /** A ConfigMap of its namespace; undefined: it is not among the manifests. */
  readonly configMap: (name: string) => {
    readonly namespace: string;
    readonly manifest: ManifestOf<"ConfigMap"> | undefined;
  };
  /** `HOST:PORT` of the server that a Service's port is. */
  readonly address: (selected: SelectedPort, origin: Origin) => string;
  /** What messages call a resource. */
  readonly nameOf: (service: ManifestOf<"Service">) => string;
}

/** What a backend may ask that is a resource of its own. */
export interface ResourceContext {
  readonly diagnostics: Diagnostics;
  /** The Services of a namespace, by name. */
  readonly servicesIn: (namespace: string) => readonly ManifestOf<"Service">[];
  /** The name under which a cluster knows a Service. */
  readonly hostOf: (service: ManifestOf<"Service">) => string;
  /** A name for the resource's own pods, where somebody says which they are; absent: nobody does. */
  readonly podsHost?: (manifest: Manifest) => string;
  /** The server that a reference of the resource leads to; undefined when there is none (reported). */
  readonly server: (reference: BackendReference, origin: Origin) => ServerConfig | undefined;
  /** What messages call a resource. */
  readonly nameOf: (manifest: Manifest) => string;
}

/** A backend as configured, whatever its kind. */
export interface BackendUse<Config> {
  readonly config: Config;
  /** How it is reached, what its route says included; absent: nothing of it is configured. */
  readonly policies?: BackendPolicies;
  /** It is asked by the name that the client used; absent: unless it has a name of its own. */
  readonly keepsHost?: true;
  /** Its share of the requests beside other backends; 1 when absent. */
  readonly weight?: number;
  /** Parts of it with mistakes were left out. */
  readonly isPartial?: boolean;
  /** What it means is a mistake (reported): its share of the requests gets 500. */
  readonly isRefused?: true;
  readonly origin: Origin;
}

/** A server that the gateway starts. */
export interface StartedServer {
  readonly command: string;
  readonly args: readonly Text[];
  /** Where its `cmd` and `args` stand. */
  readonly origin: Origin;
}

/** A server of a backend for people who read about it. */
export interface BackendLine {
  /** What it is, or what its configuration calls it. */
  readonly label?: string;
  readonly address?: Text;
  /** What its state is known by while the gateway runs; absent: nobody chooses between it and others. */
  readonly server?: string;
  /** When it is not asked. */
  readonly rest?: string;
}
