import type { Origin } from "../../compiler/diagnostics/diagnostic.ts";
import type { BackendKind, BackendNode, TcpBackendNode } from "../../compiler/ir/backends.ts";
import type { RouteNode } from "../../compiler/ir/program.ts";
import type { ServedHost } from "../../compiler/ir/routes.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, Hole, ImportSymbol, Name, Printable } from "../code/hole.ts";
import type { Trace } from "../code/trace.ts";
import type { RouteVariables } from "../code/variables.ts";

/** The parts of a route's module that its backend adds. */
export interface BackendCode {
  /** Module constants. */
  readonly declarations: readonly Hole[];
  /** Statements before the policies. */
  readonly first: readonly Hole[];
  /** Statements after CORS and before everything else that a policy does. */
  readonly guard: readonly Hole[];
  /** The last statements of the route's function; none when a policy ends it. */
  readonly step: readonly Hole[];
  /** True when the step returns a promise. */
  readonly isAsync: boolean;
  /** The step returns a promise where it has to wait, and nothing else. */
  readonly mayWait?: true;
}

/** What one backend of several, that knows the clients it has, adds to the module of their route. */
export interface ShareCode {
  /** Module constants. */
  readonly declarations: readonly Hole[];
  /** The constant that it is. */
  readonly backend: Name;
  /** Statements before the call. */
  readonly token: readonly Hole[];
  /** The call that serves a request. */
  readonly call: Code;
  /** What all of its kind have together. */
  readonly shared: Pick<BackendCode, "declarations" | "first" | "guard">;
}

/** What a backend's template may know of the route around it, whose policies have been written. */
export interface BackendScope {
  readonly route: RouteNode;
  readonly trace: Trace;
  /** Where the route is served. */
  readonly hosts: readonly ServedHost[];
  /** The most bytes of a body that is read as a whole. */
  readonly maxBufferSize: number;
  /** What the policies declared. */
  readonly variables: RouteVariables;
  /** The origins whose pages the policies let in, with `*` for any part. */
  readonly allowedOrigins: readonly string[];
  /** The call that passes the request on to an upstream; undefined: once. */
  readonly forward: Forward | undefined;
  /** The promise of a choice among the servers of the route; undefined: by chance. */
  readonly chooseServer: ((servers: Code) => Code) | undefined;
  /** What says how often a call is tried; undefined: no policy does. */
  readonly tries: TriesScope | undefined;
  /** Milliseconds to the end of the response; undefined: no policy says any. */
  readonly limits: { readonly request?: number | undefined; readonly attempt?: number | undefined };
  /** What the connections to a backend are opened with for the policies about its own messages; nothing without any. */
  readonly messagesOf: (node: BackendNode) => Readonly<Record<string, Printable>>;
  /** What decides whether bytes are passed on to a backend in the place of requests; nothing without policies that do. */
  readonly admissionOf: (node: BackendNode) => readonly Hole[];
  /** Takes the emitted expressions; their constants are declared at the head of the module. */
  readonly expressions: Expressions;
  /** The function of the rules over MCP messages; undefined without rules. */
  readonly mcpRule: Expression | undefined;
  /** The constant that says which scopes a client lacks for what they refuse; undefined: clients are not told. */
  readonly mcpStepUp: Code | undefined;
  /** The methods that those rules name. */
  readonly mcpMethods: readonly string[];
  /** What decides which requests are traced; undefined: none is. */
  readonly tracing: ImportSymbol | undefined;
}

/** The call that passes a request on to an upstream; `chosen`: to one of several, which the code gives as a choice. */
export type Forward = (upstream: Code, chosen?: "chosen") => Code;

/** How often a call is tried. */
export interface TriesScope {
  /** What the argument needs of the module. */
  readonly declarations: readonly Hole[];
  /** What the function that serves a request is given. */
  readonly argument: Expression;
  /** The same for a backend that sends requests of its own, as settings. */
  readonly settings: Printable;
  readonly origin: Origin;
}

/** A list with something in it. */
export type AtLeastOne<Item> = readonly [Item, ...Item[]];

/** The template of a kind of backend: the end of a route's function, and what the code around it may ask. */
export interface BackendTemplate<Kind extends BackendKind> {
  /** The code of a route's backends, which are of one kind. */
  readonly code: (nodes: AtLeastOne<BackendNode<Kind>>, scope: BackendScope) => BackendCode;
  /**
   * What it is beside others that share its route; `before`: those of its kind that stand before it. Absent: it knows no
   * client again, and those of its kind share requests as their code says.
   */
  readonly share?: (
    node: BackendNode<Kind>,
    before: readonly BackendNode<Kind>[],
    scope: BackendScope,
  ) => ShareCode;
  /** What it is on a route of connections; absent: it is about requests. */
  readonly connection?: (nodes: AtLeastOne<TcpBackendNode<Kind>>, trace: Trace) => ConnectionPart;
  /** The variables that functions of its own read of the exchange; absent: none. */
  readonly reads?: (node: BackendNode<Kind>) => readonly string[];
  /** Clients may know that it is a forward proxy, and send the whole URL. */
  readonly isForwardProxy?: true;
  /** Whether its clients may ask for tunnels. */
  readonly takesTunnels?: (node: BackendNode<Kind>) => boolean;
  /** It keeps to the limits of a route's time and to its tries itself. */
  readonly keepsLimits?: true;
  /** Its requests are calls of models, whose tokens are limited. */
  readonly spendsTokens?: true;
  /** How its clients read that a request is refused, before it is known what it asks for; absent: as text, or by its path. */
  readonly refusalFormat?: ImportSymbol;
  /** It keeps sessions that survive a change of the pod when all pods have one key. */
  readonly hasSessions?: true;
  /** How threads serve what one of them holds (`Gateway.handover`); absent: none of them holds anything. */
  readonly handover?: ImportSymbol;
  /** How many threads can divide its limits among them, one each at least; absent: any number. */
  readonly maxThreads?: (node: BackendNode<Kind>) => number;
}

/** Whether a node is of a kind. */
export function isOfKind<Kind extends BackendKind>(
  node: { readonly kind: BackendKind },
  kind: Kind,
): node is BackendNode<Kind> {
  return node.kind === kind;
}

/** The same behind a route of connections. */
export function isOfTcpKind<Kind extends BackendKind>(
  node: { readonly kind: BackendKind },
  kind: Kind,
): node is TcpBackendNode<Kind> {
  return node.kind === kind;
}
