import type { ItemTargets } from "../backends/backend.ts";
import type { BackendProtocol } from "../backends/parts/backend-protocol.ts";
import type { IdentityContext, PrecedingPolicies } from "../backends/parts/known-identities.ts";
import type { Diagnostics, Origin, Place } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host.ts";
import type { BackendReferenceValue } from "../manifests/field-types.ts";
import type { AccessCheck, ChangeDirection, SettingsComparison } from "../model/access.ts";
import type { BackendPolicies } from "../model/backend-policies.ts";
import type { CredentialUse } from "../model/credential-use.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { LiteralSecrets } from "../model/literal-secrets.ts";
import type { PathMatch } from "../model/matches.ts";
import type { SecretContent } from "../model/secret-contents.ts";
import type { ServerConfig } from "../model/server-policies.ts";
import type { Text } from "../model/texts.ts";
import type { Section, Traffic } from "../model/traffic.ts";
import type { Schema } from "../schema/schema.ts";
import type { CaseConfig } from "./parts/case-config.ts";

/**
 * The build-time third of a policy (the others: templates/policies and runtime/policies, same file name). What the
 * configuration means is said here and nowhere else; the schema, the reference and `gwc explain` come from it.
 * `Value` is what a file says and `KubernetesValue` what manifests do, as the schemas let them through; `Config` is
 * what a user configures in its canonical form, `Settings` what the template takes.
 */
export interface Policy<Kind extends string, Config, Settings, Value, KubernetesValue = never> {
  readonly kind: Kind;
  /** One sentence for the reference and `gwc explain`, without a full stop. */
  readonly summary: string;
  /** Where it may stand in a standalone file. */
  readonly scope: readonly ("route" | "listener" | "backend")[];
  /** The shape of its value in the file. */
  readonly schema: Schema<Value>;
  /** Whether it answers every request that reaches it: the route needs no backend, and what follows never acts. */
  isTerminal?(config: Config): boolean;
  /** What it can act on: where there is none of it, it is a mistake. */
  readonly actsOn: readonly Traffic[];
  /** Other places where a file may have it: a key of `policies`, or a field of one. */
  readonly aliases?: readonly (readonly [key: string] | readonly [key: string, field: string])[];
  /** What it is on one backend, whose requests and responses alone it is about; absent: it is about those of a route. */
  readonly onBackend?: {
    /** The shape of its value there. */
    readonly schema: Schema<Value>;
    /** Its field in the backend section of manifests: `transformation`. */
    readonly field: string;
  };
  /** The specification also has it on a backend, where it is not built yet. */
  readonly plannedOnBackend?: {
    /** How the same is had all the same, as a hint says it. */
    readonly instead?: string;
  };
  /** Names that its generated code declares: no route is called so. A number may follow each. */
  readonly names?: readonly string[];
  /** The CEL variable of the identity that it establishes: `jwt`. */
  readonly identity?: string;
  /** The fields of which that identity has some; absent, or undefined: any. */
  identityFields?(config: Config): readonly string[] | undefined;
  /** The credential that it checks in requests; absent: none, or in a place of its own. */
  credential?(config: Config): CredentialUse;
  /** The CEL variable of what else it finds out about a request: `extauthz`. */
  readonly variable?: string;
  /** Whether requests without that identity go on all the same. */
  passesAnonymous?(config: Config): boolean;
  /** It decides who may send requests, so that a proxy with it is not an open one. */
  readonly restrictsAccess?: true;
  /** What it decides about who may send a request, in order; absent: nothing. */
  access?(settings: Settings): readonly AccessCheck[];
  /** Whether it responds to preflights, which show no credentials: what asks for some before it refuses them. */
  readonly servesPreflights?: true;
  /** What having it does to who may do what; absent: it changes requests, not who may send them. */
  readonly direction?: ChangeDirection;
  /** The responses that it gives by itself, the first whose condition holds; absent: requests go on. */
  ends?(settings: Settings): readonly RequestEnd[];
  /** What of responses lets pages of other origins read them, as it says itself: `access-control-allow-origin`; absent: nothing. */
  sharesResponses?(settings: Settings): readonly string[];
  /** What a change of its settings does to who may do what; absent: it changes what happens, and opens nothing. */
  readonly compare?: SettingsComparison<Settings>;
  /** The headers of every request that it says itself, or takes away: no client can; absent: none. */
  ownHeaders?(settings: Settings): readonly string[];
  /** It acts on the call of the backend: where nothing is called it is left out. */
  readonly actsOnCall?: true;
  /** It chooses the server of each request, of several backends and of all that a backend's name stands for. */
  readonly choosesServer?: true;
  /** It limits the tokens that models use for a request, which may be taken before they are known. */
  limitsTokens?(config: Config): boolean;
  /** What it may change of a request, which later rules, and on a listener the choice of the route, see; absent: nothing. */
  changesRequest?(settings: Settings): ChangedParts;
  /** The expressions by whose values it tells callers apart, over requests as it meets them; absent: it doesn't. */
  callerKeys?(settings: Settings): readonly CallerKey[];
  /** Path prefixes that its route serves besides its own paths, whatever method and headers those ask for. */
  addPrefixes?(paths: readonly PathMatch[], settings: Settings): readonly string[];
  /** Where its rules read the path of a request. */
  pathRules?(settings: Settings): readonly Origin[];
  /** Reports what can't be decided about a connection, of one that acts on those too. */
  checkConnection?(settings: Settings, diagnostics: Diagnostics): void;
  /** Reports what it does once more that one of the listener does before routing; absent: nothing, or it is meant. */
  checkRepeated?(config: Config, before: Config, diagnostics: Diagnostics): void;
  /** How the values of several levels become one: the most specific wins whole, or their rules are joined. */
  readonly merge: "replace" | "join";
  /** The validated value in its canonical form: spellings and aliases end here. */
  readonly lower: (value: Value, origin: Origin) => Config;
  /** What it is in Kubernetes manifests; absent: it is not part of that form. */
  readonly kubernetes?: KubernetesForm<Config, KubernetesValue>;
  /** Complete settings for the template, or undefined when a mistake was reported. */
  readonly resolve: (config: Config, context: ResolveContext) => Settings | undefined;
}

/** A response that a policy gives by itself. */
export interface RequestEnd {
  /** To which requests; undefined: to all that are left. */
  readonly condition: CompiledExpression | undefined;
  /** Its status is 4xx or 5xx. */
  readonly isRefusal: boolean;
}

/** Names of headers, and `:path` and its like; `anything`: whatever a server says. */
export type ChangedParts = readonly string[] | "anything";

/** An expression by whose values callers are told apart, and where it stands. */
export interface CallerKey {
  readonly text: string;
  readonly origin: Origin;
}

/** A policy in Kubernetes manifests. */
export interface KubernetesForm<Config, Value> {
  /** Its field in a GatewayPolicy: `traffic.cors`, `backend.mcp.authorization`; that of a rule's filter otherwise. */
  readonly field: string;
  /** The filter of an HTTPRoute's rule that says the same, by its field: `cors`. */
  readonly filter?: string;
  /** The shape of that filter; absent: the same as that of the field. */
  readonly filterSchema?: Schema<Value>;
  /** Its part of the field's value, which is what the filter has: several policies may share a field. */
  readonly part?: string;
  /** The shape of the field, or of its part. */
  readonly schema: Schema<Value>;
  /** The field of an HTTPRoute's rule that says the same: `timeouts`. */
  readonly ruleField?: string;
  /** GRPCRoutes have that field too. */
  readonly isOfGrpc?: true;
  /** The shape of that field. */
  readonly ruleSchema?: Schema<Value>;
  /** The validated value in canonical form; undefined when a mistake was reported. */
  readonly lower: (value: Value, context: KubernetesContext) => Config | undefined;
  /** One configuration of those that `conditional` has, each with its condition; absent: there is no such field. */
  ofConditions?(forms: readonly CaseConfig<Config>[]): Config;
  /** A configuration that does nothing, made of one that does something: an entry of `conditional` without this part. */
  idle?(config: Config): Config;
  /** One configuration of several, the least specific first: for `merge: "join"`. */
  join?(configs: readonly Config[]): Config;
  /** One configuration of the one that holds for all MCP targets and those that single targets have instead. */
  perTarget?(config: Config | undefined, targets: ReadonlyMap<string, Config>): Config;
  /** What one configuration says of one MCP target. */
  ofTarget?(config: Config, target: string): Config;
}

/** What a policy may ask while its cluster form is read. */
export interface KubernetesContext {
  readonly origin: Origin;
  readonly diagnostics: Diagnostics;
  /** The server that a backend reference leads to; undefined when there is none (reported). */
  readonly server: (reference: BackendReferenceValue, origin: Origin) => ServerConfig | undefined;
  /** The names of the mounted files of a Secret's keys, NAME/KEY; all of its keys, or those given. `content`: what they are read as. */
  readonly secretFiles: (
    name: string,
    keys: readonly string[] | undefined,
    content: SecretContent,
    origin: Origin,
  ) => readonly string[];
  /** The Secrets of the namespace that have these labels, by name. */
  readonly secretsWith: (labels: Readonly<Record<string, string>>) => readonly string[];
}

/** A backend with a name as a server. */
export interface NamedServer {
  readonly address: Text;
  readonly policies: BackendPolicies | undefined;
  readonly origin: Origin;
}

/** What a policy may ask while it is resolved. */
export interface ResolveContext extends IdentityContext {
  readonly origin: Origin;
  readonly host: Host;
  /** The credentials that are written out. */
  readonly literals: LiteralSecrets;
  /** Parts of policies that hold for several routes, and have to act on one of them. */
  readonly sections: {
    meet(section: Section, carried: readonly Traffic[] | undefined): boolean;
  };
  /** The path, from the working directory, of a file that the configuration names at a place. */
  readonly resolvePath: (name: string, at: Place) => string;
  /** The server that a named backend of the file is; undefined when it is none (reported). */
  readonly namedServer: (name: string, origin: Origin) => NamedServer | undefined;
  /** It stands on one backend of the route; absent: on the route. */
  readonly isOnBackend?: true;
  /** That backend gets only a share of the route's requests, and others do not say the same. */
  readonly isOfShare?: true;
  /** PreRouting: on a listener, before the route is chosen; PostRouting: on a route. */
  readonly phase: "PreRouting" | "PostRouting";
  /** The route that carries the policy; of a listener's policy what holds for one of its routes. */
  readonly route: PrecedingPolicies & {
    /** What its backend speaks. */
    readonly protocol: BackendProtocol;
    /** Its requests may be to models; undefined: a mistake hides whether they are. */
    readonly asksModels: boolean | undefined;
    /** Its requests use tokens of models that are counted; undefined: a mistake hides whether they do. */
    readonly spendsTokens: boolean | undefined;
    /** The servers behind it whose items rules are about; undefined: it has no items. */
    readonly itemTargets: ItemTargets | undefined;
    /** The models that its clients can ask for by name (one `*` at an end); undefined: any. */
    readonly modelNames: readonly string[] | undefined;
    /** The prefixes of its matches; undefined when a match has another kind of path. */
    readonly prefixes: readonly string[] | undefined;
  };
}
