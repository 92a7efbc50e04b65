import type { Origin } from "../../compiler/diagnostics/diagnostic.ts";
import type { BackendKind, BackendNode, TcpBackendNode } from "../../compiler/ir/backends.ts";
import type { RouteNode } from "../../compiler/ir/program.ts";
import type { ServedHost } from "../../compiler/ir/routes.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, Hole, ImportSymbol, Name, Printable } from "../code/hole.ts";
import type { Trace } from "../code/trace.ts";
import type { RouteVariables } from "../code/variables.ts";

/** Parts of a route's module that its backend adds. */
export interface BackendCode {
  /** Constants of the module. */
  readonly declarations: readonly Hole[];
  /** Statements before the policies. */
  readonly first: readonly Hole[];
  /** Statements after CORS and before all other steps of policies. */
  readonly guard: readonly Hole[];
  /** Last statements of the route's function; none if a policy ends it. */
  readonly step: readonly Hole[];
  /** Whether the step returns a promise. */
  readonly isAsync: boolean;
  /** Whether the step returns a promise only if it has to wait. */
  readonly mayWait?: true;
}

/** Parts of a route's module for one of several backends that recognizes its clients. */
export interface ShareCode {
  /** Constants of the module. */
  readonly declarations: readonly Hole[];
  /** Name of its constant. */
  readonly backend: Name;
  /** Statements before the call. */
  readonly token: readonly Hole[];
  /** The call that serves a request. */
  readonly call: Code;
  /** Parts that all backends of its kind share. */
  readonly shared: Pick<BackendCode, "declarations" | "first" | "guard">;
}

/** Context of a backend's template: the route, whose policies have been written. */
export interface BackendScope {
  readonly route: RouteNode;
  readonly trace: Trace;
  /** Hosts and matches under which the route is served. */
  readonly hosts: readonly ServedHost[];
  /** Maximum size of a buffered body, in bytes. */
  readonly maxBufferSize: number;
  /** Variables that the policies declared. */
  readonly variables: RouteVariables;
  /** Origins of pages that the policies allow, with `*` for any part. */
  readonly allowedOrigins: readonly string[];
  /** Writes the call that forwards the request to an upstream; `undefined` for a single attempt. */
  readonly forward: Forward | undefined;
  /** Writes the promise of a choice among the servers of the route; `undefined` for a random choice. */
  readonly chooseServer: ((servers: Code) => Code) | undefined;
  /** Retry policy; `undefined` if calls are not retried. */
  readonly tries: TriesScope | undefined;
  /** Limits in milliseconds until the end of the response; `undefined` if no policy sets one. */
  readonly limits: { readonly request?: number | undefined; readonly attempt?: number | undefined };
  /**
   * Returns the settings of a backend's connections for the policies about its messages; empty without such policies.
   */
  readonly messagesOf: (node: BackendNode) => Readonly<Record<string, Printable>>;
  /** Returns the statements that decide whether a tunnel to a backend is opened; empty without such policies. */
  readonly admissionOf: (node: BackendNode) => readonly Hole[];
  /** Collects the emitted expressions; their constants are declared at the top of the module. */
  readonly expressions: Expressions;
  /** Function of the rules for MCP messages; `undefined` without rules. */
  readonly mcpRule: Expression | undefined;
  /** Constant with the scopes that refused clients lack; `undefined` if clients are not told. */
  readonly mcpStepUp: Code | undefined;
  /** Function that reads the arguments of tool calls for those rules; `undefined` if they read none. */
  readonly mcpArguments: ImportSymbol | undefined;
  /** Methods that those rules name. */
  readonly mcpMethods: readonly string[];
  /** Whether messages of calls to models are exported. */
  readonly capturesMessages: boolean;
  /** Tracing of requests; `undefined` if none are traced. */
  readonly tracing: ImportSymbol | undefined;
}

/** Writes the call that forwards a request to an upstream; `chosen` means one of several, given as a choice. */
export type Forward = (upstream: Code, chosen?: "chosen") => Code;

/** Retries of calls. */
export interface TriesScope {
  /** Declarations that the argument needs. */
  readonly declarations: readonly Hole[];
  /** Argument of the function that serves a request. */
  readonly argument: Expression;
  /** The same as settings, for a backend that sends requests of its own. */
  readonly settings: Printable;
  readonly origin: Origin;
}

/** A nonempty list. */
export type AtLeastOne<Item> = readonly [Item, ...Item[]];

/** Template of a kind of backend: the end of a route's function, and its traits. */
export interface BackendTemplate<Kind extends BackendKind> {
  /** Writes the code of a route's backends, which are of one kind. */
  readonly code: (nodes: AtLeastOne<BackendNode<Kind>>, scope: BackendScope) => BackendCode;
  /**
   * Returns the handler of a route that only passes requests to this backend, as an expression; `undefined` if that takes
   * statements. Absent if it always does.
   */
  readonly handler?: (node: BackendNode<Kind>) => Expression | undefined;
  /**
   * Writes one of several backends that share a route; `before`: earlier backends of its kind. Absent if it does not
   * recognize clients; then backends of its kind divide requests in `code`.
   */
  readonly share?: (
    node: BackendNode<Kind>,
    before: readonly BackendNode<Kind>[],
    scope: BackendScope,
  ) => ShareCode;
  /** Writes the backend of a route of connections; absent if it serves only requests. */
  readonly connection?: (
    nodes: AtLeastOne<TcpBackendNode<Kind>>,
    scope: Pick<BackendScope, "trace" | "expressions">,
  ) => ConnectionPart;
  /** Returns the variables of the exchange that its functions read; absent if they read nothing. */
  readonly reads?: (node: BackendNode<Kind>) => readonly string[];
  /** Whether clients may treat it as a forward proxy and send whole URLs. */
  readonly isForwardProxy?: true;
  /** Returns whether its clients may request tunnels. */
  readonly takesTunnels?: (node: BackendNode<Kind>) => boolean;
  /** Whether it applies a route's timeouts and retries itself. */
  readonly keepsLimits?: true;
  /** Whether its requests are model calls, whose tokens are limited. */
  readonly spendsTokens?: true;
  /** Format of refusals before the request has been read; absent for plain text, or if the path decides. */
  readonly refusalFormat?: ImportSymbol;
  /**
   * Returns what it seals for clients, so that all replicas need the same key: sessions end with the process, ids are kept.
   * `undefined` if it seals nothing.
   */
  readonly seals?: (node: BackendNode<Kind>) => "sessions" | "ids" | undefined;
  /** Returns the name of its own tool that calls another one, which the arguments name; absent if it has none. */
  readonly toolCaller?: (node: BackendNode<Kind>) => string | undefined;
  /** Handover of state between threads (`Gateway.handover`); absent if threads have no state. */
  readonly handover?: ImportSymbol;
  /** Returns how many threads can divide its limits, with at least one each; absent for any number. */
  readonly maxThreads?: (node: BackendNode<Kind>) => number;
}

/** Returns whether a node is of a kind. */
export function isOfKind<Kind extends BackendKind>(
  node: { readonly kind: BackendKind },
  kind: Kind,
): node is BackendNode<Kind> {
  return node.kind === kind;
}

/** Returns the same for a node of a route of connections. */
export function isOfTcpKind<Kind extends BackendKind>(
  node: { readonly kind: BackendKind },
  kind: Kind,
): node is TcpBackendNode<Kind> {
  return node.kind === kind;
}
