import type { UserConnectionUse } from "../../runtime/auth/connections/connected-upstream.ts";
import type { PromptGuardNode, TextHooks } from "../backends/ai/guards.ts";
import type { ItemTargets } from "../backends/backend.ts";
import type { BackendProtocol } from "../backends/parts/backend-protocol.ts";
import type { IdentityContext, PrecedingPolicies } from "../backends/parts/known-identities.ts";
import type { NamedServers } from "../backends/parts/named-server.ts";
import type { Diagnostics, Origin, Place } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host.ts";
import type { BackendReferenceValue } from "../manifests/field-types.ts";
import type { ManifestOf } from "../manifests/manifests.ts";
import type { PolicyFields } from "../manifests/policy.ts";
import type { AccessCheck, ChangeDirection, SettingsComparison } from "../model/access.ts";
import type { BackendPolicies } from "../model/backend-policies.ts";
import type { CredentialUse } from "../model/credential-use.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { LiteralSecrets } from "../model/literal-secrets.ts";
import type { PathMatch } from "../model/matches.ts";
import type { SecretContent } from "../model/secret-contents.ts";
import type { ServerConfig } from "../model/server-policies.ts";
import type { SharedStore } from "../model/shared-store.ts";
import type { Section, Traffic } from "../model/traffic.ts";
import type { Schema } from "../schema/schema.ts";
import type { PolicyReading, PolicySource } from "./custom/read-policy.ts";
import type { CaseConfig } from "./parts/case-config.ts";

/**
 * The build-time part of a policy; the other parts are in templates/policies and runtime/policies, under the same
 * file name. It defines what the configuration means: the schema, the reference and `gwc explain` are derived from
 * it. `Value` is the value in a file and `KubernetesValue` the one in manifests, as validated by the schemas;
 * `Config` is their canonical form, `Settings` what the template receives.
 */
export interface Policy<Kind extends string, Config, Settings, Value, KubernetesValue = never> {
  readonly kind: Kind;
  /** One sentence for the reference and `gwc explain`, without a full stop. */
  readonly summary: string;
  /** Places in a standalone file where the policy is allowed. */
  readonly scope: readonly ("route" | "listener" | "backend")[];
  /** Schema of its value in a file. */
  readonly schema: Schema<Value>;
  /** Other spellings in a file: a key of `policies`, or a field of such a key. */
  readonly aliases?: readonly (readonly [key: string] | readonly [key: string, field: string])[];
  /**
   * Form of the policy on a single backend, where it acts on that backend's requests and responses only; absent if
   * not allowed there.
   */
  readonly onBackend?: {
    /** Schema of its value there. */
    readonly schema: Schema<Value>;
    /** Its field in the backend section of manifests, such as `transformation`. */
    readonly field: string;
    /** Schema of that field; the one on routes if absent. */
    readonly kubernetesSchema?: Schema;
    /** Traffic that it acts on there. */
    readonly actsOn: readonly Traffic[];
  };
  /**
   * Protocol of backends that have the policy without naming it in manifests: a field of a GatewayBackend, or the
   * end of `appProtocol` of a Service's port. Absent if it is always configured.
   */
  readonly ofProtocol?: { readonly name: string; readonly config: Config };
  /** Set if the specification allows the policy on a backend and this is not implemented yet. */
  readonly plannedOnBackend?: {
    /** Alternative, worded as a hint. */
    readonly instead?: string;
  };
  /** Names that its generated code declares, each possibly followed by a number; routes get other names. */
  readonly names?: readonly string[];
  /** Its effects on requests and their routes. */
  readonly traits: PolicyTraits<Config, Settings>;
  /** Its part in deciding who may send requests; absent if it has none. */
  readonly access?: PolicyAccess<Config, Settings>;
  /** Form of the policy in Kubernetes manifests; absent if it has none. */
  readonly kubernetes?: KubernetesForm<Config, KubernetesValue>;
  /** Conversion of its values to canonical form and to settings. */
  readonly lowering: PolicyLowering<Config, Settings, Value>;
}

/** Effects of a policy on requests and their routes. */
export interface PolicyTraits<Config, Settings> {
  /** Traffic that it can act on; using it elsewhere is a mistake. */
  readonly actsOn: readonly Traffic[];
  /** Set if nothing is less protected without it: using it where it cannot act is only a warning. */
  readonly isOptional?: true;
  /**
   * Whether it responds to every request that reaches it, so that the route needs no backend and later policies
   * never run.
   */
  isTerminal?(config: Config): boolean;
  /** Set if it acts on the call to the backend; it is omitted where no backend is called. */
  readonly actsOnCall?: true;
  /** Set if the backend does its work, so that it is no step of a request and other policies cannot run after it. */
  readonly isOfBackend?: true;
  /** Set if it chooses the server of each request, among several backends and all addresses of a backend's name. */
  readonly choosesServer?: true;
  /** Whether it limits LLM tokens, which may be deducted before their number is known. */
  limitsTokens?(config: Config): boolean;
  /** Whether it counts costs by the prices of models. */
  countsCosts?(config: Config): boolean;
  /**
   * Parts of the request that it may change, which later rules read, and on a listener the choice of the route;
   * absent if none.
   */
  changesRequest?(settings: Settings): ChangedParts;
  /** Headers that it sets or removes on every request, so that clients cannot set them; absent if none. */
  ownHeaders?(settings: Settings): readonly string[];
  /** Path prefixes that its route serves in addition to its own paths, for any method and headers. */
  addPrefixes?(paths: readonly PathMatch[], settings: Settings): readonly string[];
  /** Whether it responds to preflights, which carry no credentials, before other policies require them. */
  readonly servesPreflights?: true;
  /** Which texts of model calls it reads after the guards of the backend; absent if none. */
  textHooks?(settings: Settings): TextHooks | undefined;
  /** Values that its variable has, and the custom policies that provide them; absent if they are not known. */
  provides?(settings: Settings): ReadonlyMap<string, string>;
  /** Custom policies that it runs by name, and the hooks of each; absent if none. */
  customHooks?(settings: Settings): ReadonlyMap<string, readonly string[]>;
  /** The same of a policy that is not resolved; `undefined` if it has mistakes. Absent if it does not provide any. */
  declares?(config: Config, reading: PolicyReading): ReadonlyMap<string, string> | undefined;
  /** Modules that users wrote and that its code imports; absent if none. */
  sources?(settings: Settings): readonly PolicySource[];
  /** Policies that it consists of, which summaries name; absent if it is one. */
  parts?(settings: Settings): readonly PolicyPart[];
  /** Guards of texts that it has; absent if it has none. */
  promptGuard?(settings: Settings): PromptGuardNode;
  /**
   * Use of the gateway's store: records that it requires, in a file without `config.store`; or state that replicas
   * share, if `config.store` is configured. Absent if it never uses one.
   */
  usesStore?(settings: Settings): "records" | "sharing" | undefined;
  /** Its limits, and for each where it is counted and how exactly; absent if it has none. */
  limits?(settings: Settings): readonly string[];
  /** Place of a part of it that each replica counts for itself; absent if it has none, or if that is configured. */
  countsAlone?(settings: Settings): Origin | undefined;
  /** Whether a provider announces logouts to it, which name users by `sub`. */
  announcesLogouts?(settings: Settings): boolean;
  /** Connections that users can make on its page; absent if it has none. */
  connections?(settings: Settings): readonly UserConnectionUse[];
  /** CEL variable of other facts that it finds out about a request, such as `extauthz`. */
  readonly variable?: string;
  /**
   * Responses that it sends itself, of which the first whose condition is true applies; absent if requests
   * continue.
   */
  ends?(settings: Settings): readonly RequestEnd[];
}

/** The part of a policy in deciding who may send requests. */
export interface PolicyAccess<Config, Settings> {
  /** CEL variable of the identity that it establishes, such as `jwt`. */
  readonly identity?: string;
  /** Fields that the identity can have; `undefined` if any. */
  identityFields?(config: Config): readonly string[] | undefined;
  /** Credential that it checks in requests; absent if none, or if it has a fixed location. */
  credential?(config: Config): CredentialUse;
  /** Request headers, in lower case, that its preflights allow, or `*`; absent if it answers no preflights. */
  preflightHeaders?(config: Config): readonly string[];
  /** Whether requests without the identity pass. */
  passesAnonymous?(config: Config): boolean;
  /** Set if it decides who may send requests, so that a proxy with it is not an open one. */
  readonly restrictsAccess?: true;
  /** Its access decisions, in order; absent if it makes none. */
  checks?(settings: Settings): readonly AccessCheck[];
  /** Effect of its presence on access; absent if it changes requests but not who may send them. */
  readonly direction?: ChangeDirection;
  /** The same for some settings, if it depends on them. */
  directionOf?(settings: Settings): ChangeDirection;
  /** Effect of changed settings on access; absent if changes never open or close access. */
  readonly compare?: SettingsComparison<Settings>;
  /**
   * Expressions that distinguish callers, evaluated on the request as the policy receives it; absent if it does
   * not.
   */
  callerKeys?(settings: Settings): readonly CallerKey[];
  /** Locations of its rules that read the request's path. */
  pathRules?(settings: Settings): readonly Origin[];
  /**
   * Response headers it sets that let pages of other origins read responses, such as
   * `access-control-allow-origin`; absent if none.
   */
  sharesResponses?(settings: Settings): readonly string[];
}

/** Conversion of the values of a policy. */
export interface PolicyLowering<Config, Settings, Value> {
  /** How values of several levels combine: the most specific applies as a whole, or their rules are joined. */
  readonly merge: "replace" | "join";
  /** Converts the validated value to its canonical form, without spelling variants and aliases. */
  readonly lower: (value: Value, origin: Origin) => Config;
  /** Returns complete settings for the template; `undefined` if a mistake was reported. */
  readonly resolve: (config: Config, context: ResolveContext) => Settings | undefined;
  /** Returns its parts, some of which run elsewhere in request order; absent if all of it is one step. */
  partsOf?(config: Config): readonly ConfigPart<Config>[];
  /** Joins the settings of such parts again, in the order of the configuration. */
  joinParts?(parts: readonly Settings[]): Settings;
  /** Returns its form on a route of a forward proxy, which clients authenticate to in other headers; absent if the same. */
  forProxy?(config: Config): Config;
  /**
   * Reports work that repeats what the listener's policy does before routing; absent if nothing repeats, or if
   * that is intended.
   */
  checkRepeated?(config: Config, before: Config, diagnostics: Diagnostics): void;
  /** Reports rules that cannot be decided for a connection, of a policy that also acts on those. */
  checkConnection?(settings: Settings, diagnostics: Diagnostics): void;
}

/** A part of a policy's configuration, and where it runs; `undefined` for the place of the policy. */
export interface ConfigPart<Config> {
  readonly config: Config;
  readonly place: OrderPlace | undefined;
}

/** A policy among several of a kind: code that users wrote, and its settings. */
export interface PolicyPart {
  readonly name: string;
  readonly code: unknown;
  readonly settings: unknown;
}

/** A place in request order, as configured. */
export interface OrderPlace {
  readonly side: "before" | "after";
  /** Name of a policy in files, or its field in manifests. */
  readonly name: string;
  readonly isOfManifest: boolean;
  readonly origin: Origin;
}

/** A response that a policy sends itself. */
export interface RequestEnd {
  /** Condition of the requests that get it; `undefined` for all remaining ones. */
  readonly condition: CompiledExpression | undefined;
  /** Whether the status is 4xx or 5xx. */
  readonly isRefusal: boolean;
}

/** Names of headers and pseudo-headers (`:path`); `anything` if a server decides. */
export type ChangedParts = readonly string[] | "anything";

/** An expression that distinguishes callers, with its location. */
export interface CallerKey {
  readonly text: string;
  readonly origin: Origin;
}

/** Form of a policy in Kubernetes manifests. */
export interface KubernetesForm<Config, Value> {
  /**
   * Its field in a GatewayPolicy, such as `traffic.cors` or `backend.mcp.authorization`; or else that of the
   * filter of a rule.
   */
  readonly field: string;
  /** Field of the equivalent HTTPRoute filter, such as `cors`. */
  readonly filter?: string;
  /** Schema of that filter; absent if the same as the field's. */
  readonly filterSchema?: Schema<Value>;
  /** Its part of the field's value, if several policies share a field; the filter has only this part. */
  readonly part?: string;
  /** Schema of the field, or of its part. */
  readonly schema: Schema<Value>;
  /** Equivalent field of an HTTPRoute's rule, such as `timeouts`. */
  readonly ruleField?: string;
  /** Whether GRPCRoutes have that field too. */
  readonly isOfGrpc?: true;
  /** Schema of that field. */
  readonly ruleSchema?: Schema<Value>;
  /** Converts the validated value to canonical form; returns `undefined` if a mistake was reported. */
  readonly lower: (value: Value, context: KubernetesContext) => Config | undefined;
  /** Joins the entries of `conditional` into one configuration; absent if there is no such field. */
  ofConditions?(forms: readonly CaseConfig<Config>[]): Config;
  /**
   * Returns a configuration that does nothing, derived from another: for an entry of `conditional` without this
   * part.
   */
  idle?(config: Config): Config;
  /** Joins several configurations, least specific first, if `merge` is "join". */
  join?(configs: readonly Config[]): Config;
  /** Joins the configuration of all MCP targets with those of single targets, which replace it. */
  perTarget?(config: Config | undefined, targets: ReadonlyMap<string, Config>): Config;
  /** Returns the part of a configuration that applies to one MCP target. */
  ofTarget?(config: Config, target: string): Config;
}

/** Services that a policy can use while its manifest form is read. */
export interface KubernetesContext {
  readonly origin: Origin;
  /** Namespace of the policy. */
  readonly namespace: string;
  readonly diagnostics: Diagnostics;
  /** Returns the server of a backend reference; `undefined` if it is unknown (reported). */
  readonly server: (reference: BackendReferenceValue, origin: Origin) => ServerConfig | undefined;
  /** Returns the connection policies of a server that the policy describes with its own fields. */
  readonly connection: (fields: PolicyFields, origin: Origin) => BackendPolicies | undefined;
  /** Returns the names of the mounted files (NAME/KEY) of a Secret's keys. `content` is how they are parsed. */
  readonly secretFiles: (
    name: string,
    keys: readonly string[],
    content: SecretContent,
    origin: Origin,
  ) => readonly string[];
  /** Returns the names of the mounted folders of Secrets whose entries are API keys. */
  readonly keyFolders: (names: readonly string[], origin: Origin) => readonly string[];
  /** Returns the Secrets or ConfigMaps of the namespace that have these labels. */
  readonly objectsWith: <Kind extends "Secret" | "ConfigMap">(
    kind: Kind,
    labels: Readonly<Record<string, string>>,
  ) => readonly ManifestOf<Kind>[];
}

/** Services that a policy can use while it is resolved. */
export interface ResolveContext extends IdentityContext, NamedServers {
  readonly origin: Origin;
  /** Whether the gateway has a store that replicas share; `optional` if it may start without; `unknown` without a gateway. */
  readonly sharedStore: SharedStore;
  readonly host: Host;
  /** Records credentials that are written literally in the configuration. */
  readonly literals: LiteralSecrets;
  /** Parts of policies that apply to several routes and must have an effect on at least one. */
  readonly sections: {
    meet(section: Section, carried: readonly Traffic[] | undefined): boolean;
  };
  /** Returns the path, relative to the working directory, of a file named in the configuration at this location. */
  readonly resolvePath: (name: string, at: Place) => string;
  /** Kind of the policy, for messages about named backends. */
  readonly user: string;
  /** Set if the policy is on one backend of the route; absent if on the route. */
  readonly isOnBackend?: true;
  /** Set if only part of the route's requests go to that backend, and other backends do not have the same policy. */
  readonly isOfShare?: true;
  /** Set if the policy acts on connections instead of requests. */
  readonly isOfConnections?: true;
  /** PreRouting on a listener, before the route is chosen; PostRouting on a route. */
  readonly phase: "PreRouting" | "PostRouting";
  /** The route that carries the policy; for a listener's policy, the facts that are true for any of its routes. */
  readonly route: PrecedingPolicies & {
    /** Protocol of its backend. */
    readonly protocol: BackendProtocol;
    /** Whether it may call LLMs; `undefined` if a mistake hides this. */
    readonly asksModels: boolean | undefined;
    /** Whether its requests use LLM tokens that are counted; `undefined` if a mistake hides this. */
    readonly spendsTokens: boolean | undefined;
    /** MCP servers behind it whose items rules refer to; `undefined` if it has no items. */
    readonly itemTargets: ItemTargets | undefined;
    /** Model names that its clients can use (with at most one `*`, at an end); `undefined` if any. */
    readonly modelNames: readonly string[] | undefined;
    /** Path prefixes of its matches; `undefined` if a match has another kind of path. */
    readonly prefixes: readonly string[] | undefined;
  };
}
