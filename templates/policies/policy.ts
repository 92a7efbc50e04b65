import type { PolicyKind, PolicySettings, PolicyUse } from "../../compiler/ir/policies.ts";
import type { Forward, TriesScope } from "../backends/backend.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, Hole, ImportSymbol, Printable } from "../code/hole.ts";
import type { Trace } from "../code/trace.ts";
import type { RouteVariables } from "../code/variables.ts";

/** The parts of a route's module that one policy adds. */
export interface PolicyCode {
  /** Module constants and functions, in order; each with its trace comment. */
  readonly declarations: readonly Hole[];
  /** Statements of the route's function; each goes on or ends the exchange. */
  readonly steps: readonly Hole[];
  /** Statements that come before every policy's steps: paths that are answered whatever the request carries. */
  readonly first?: readonly Hole[];
  /** True when a step awaits. */
  readonly isAsync?: boolean;
  /** True when its expressions read `request.body`: the body is held before the steps. */
  readonly readsRequestBody?: boolean;
  /** The steps when nothing later reads the identity that they declare, where they are others. */
  readonly unread?: readonly Hole[];
  /** True when the last step answers every request: it ends the route's function. */
  readonly responses?: boolean;
  /** The call that passes the request on to an upstream, in the place of `forward`; the last policy's counts. */
  readonly forward?: Forward;
  /** The promise of a choice among the servers of the route, in the place of chance; undefined where the request is answered. */
  readonly chooseServer?: (servers: Code) => Code;
  /** What says how often a call is tried, for a backend that keeps to that itself. */
  readonly tries?: TriesScope;
  /** Milliseconds to the end of the response, for a backend that keeps to them itself. */
  readonly limits?: CallLimits;
  /** What later parts of the route pass on: the name of the MCP rule function. */
  readonly mcpRule?: Expression;
  /** The constant that says which scopes a client lacks for what its rules refuse. */
  readonly mcpStepUp?: Code;
  /** The MCP methods that its rules name. */
  readonly mcpMethods?: readonly string[];
}

/** How long the backend may take, in milliseconds; undefined: no limit. */
export interface CallLimits {
  readonly request: number | undefined;
  readonly attempt: number | undefined;
}

/** What a policy's template may know of the route around it. */
export interface RouteScope {
  readonly trace: Trace;
  /** Takes the emitted expressions; their constants are declared at the head of the module. */
  readonly expressions: Expressions;
  /** The most bytes of a body that is read as a whole. */
  readonly maxBufferSize: number;
  /** Several threads serve the gateway. */
  readonly hasThreads: boolean;
  /** PreRouting: the function runs before the route is chosen, and may change which one it is. */
  readonly phase: "PreRouting" | "PostRouting";
  /** The name of the module's function, which no other module of the gateway has. */
  readonly id: string;
  /** A backend keeps to limits of time and to tries itself. */
  readonly keepsLimits: boolean;
  /** Requests are passed on to a backend. */
  readonly forwards: boolean;
  /** All policies of the route, in request order. */
  readonly policies: readonly PolicyUse[];
  /** The CEL variables that the policies before this one declare. */
  readonly variables: RouteVariables;
  /** The function that opens what tells clients which scopes they lack; undefined: the route's clients are told of none. */
  readonly openStepUp: ImportSymbol | undefined;
}

/** The template of a policy kind: what it adds to the functions of routes, and what the code around it may ask. */
export interface PolicyTemplate<Kind extends PolicyKind> {
  readonly code: (use: PolicyUse<Kind>, scope: RouteScope) => PolicyCode;
  /** What the head of a module says of it in parentheses: `strict`. */
  readonly detail?: (settings: PolicySettings[Kind]) => string;
  /** The CEL variable that its steps declare, and that says who the client is: `jwt`. */
  readonly identity?: string;
  /** The CEL variables that the exchange holds from here on. */
  readonly attributes?: (settings: PolicySettings[Kind]) => readonly string[];
  /** The function that opens what tells clients which scopes they lack (`StepUp`): rules after it ask for one. */
  readonly openStepUp?: ImportSymbol;
  /** How threads share what it writes down so that a restart does not forget it; undefined: it writes nothing down. */
  readonly persistedState?: (settings: PolicySettings[Kind]) => ImportSymbol | undefined;
  /** It seals what clients show again: all pods need one key. */
  readonly hasSessions?: true;
  /** The cookie or header that clients show again (`OwnToken`), which no backend of the gateway gets. `id` is the route's. */
  readonly ownToken?: (settings: PolicySettings[Kind], id: string) => Code;
  /** True when its steps come before the guard of the backend, which may refuse the request. */
  readonly isBeforeGuard?: boolean;
  /** Whether a part of it waits for the route, where it stands before routing: it is about calls of models. */
  readonly asksBeforeCalls?: (settings: PolicySettings[Kind]) => boolean;
  /** The origins whose pages it lets in, with `*` for any part. */
  readonly allowedOrigins?: (settings: PolicySettings[Kind]) => readonly string[];
  /** What it is on one backend; `suffix` tells its functions from those of others. */
  readonly onBackend?: (use: PolicyUse<Kind>, suffix: string, scope: RouteScope) => OwnMessages;
  /** The CEL variables that it reads on one backend. */
  readonly backendReads?: (settings: PolicySettings[Kind]) => readonly string[];
  /** What it is on a route of connections. */
  readonly connection?: (use: PolicyUse<Kind>, scope: ConnectionScope) => ConnectionPart;
  /** What it is on every connection, before there is a route: a function of this name that says whether its client may connect. */
  readonly connectionRules?: (
    use: PolicyUse<Kind>,
    label: string,
    scope: ConnectionScope,
  ) => readonly Code[];
}

/** What a policy about one backend's messages makes of the code that opens its connections. */
export interface OwnMessages {
  /** Functions of the module. */
  readonly declarations: readonly Hole[];
  /** What opens the connections is given. */
  readonly settings: Readonly<Record<string, Printable>>;
  /** Statements before bytes are passed on in the place of requests; each goes on or ends the exchange. Absent: none. */
  readonly admission?: readonly Hole[];
  /** The body of requests has to be there before. */
  readonly readsRequestBody: boolean;
}

/** What a policy's template may know of a route of connections. */
export interface ConnectionScope {
  readonly trace: Trace;
  readonly expressions: Expressions;
}
