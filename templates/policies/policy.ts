import type { PolicyKind, PolicySettings, PolicyUse } from "../../compiler/ir/policies.ts";
import type { Forward, TriesScope } from "../backends/backend.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, Hole, ImportSymbol, Printable } from "../code/hole.ts";
import type { Trace } from "../code/trace.ts";
import type { RouteVariables } from "../code/variables.ts";

/** Parts of a route's module that one policy adds. */
export interface PolicyCode {
  /** Constants and functions of the module, in order, each with its trace comment. */
  readonly declarations: readonly Hole[];
  /** Statements of the route's function; each continues or ends the exchange. */
  readonly steps: readonly Hole[];
  /** Statements before the steps of all policies, for paths that are answered for any request. */
  readonly first?: readonly Hole[];
  /** Whether a step awaits. */
  readonly isAsync?: boolean;
  /** Whether its expressions read `request.body`, so that the body is buffered before the steps. */
  readonly readsRequestBody?: boolean;
  /** Different steps for the case that nothing later reads the identity that they declare. */
  readonly unread?: readonly Hole[];
  /** Whether the last step answers every request and ends the route's function. */
  readonly responses?: boolean;
  /** Writes the call that forwards the request to an upstream, instead of `forward`; the last policy's is used. */
  readonly forward?: Forward;
  /**
   * Writes the promise of a choice among the servers of the route instead of a random one; it resolves to `undefined`
   * if the request is answered.
   */
  readonly chooseServer?: (servers: Code) => Code;
  /** Retries, for a backend that applies them itself. */
  readonly tries?: TriesScope;
  /** Limits in milliseconds until the end of the response, for a backend that applies them itself. */
  readonly limits?: CallLimits;
  /** Name of the MCP rule function. */
  readonly mcpRule?: Expression;
  /** Constant with the scopes that refused clients lack. */
  readonly mcpStepUp?: Code;
  /** Function that reads the arguments of tool calls for its rules; absent if they read none. */
  readonly mcpArguments?: ImportSymbol;
  /** MCP methods that its rules name. */
  readonly mcpMethods?: readonly string[];
}

/** Timeouts of the backend in milliseconds; `undefined` for no limit. */
export interface CallLimits {
  readonly request: number | undefined;
  readonly attempt: number | undefined;
}

/** Context of a policy's template. */
export interface RouteScope {
  readonly trace: Trace;
  /** Collects the emitted expressions; their constants are declared at the top of the module. */
  readonly expressions: Expressions;
  /** Maximum size of a buffered body, in bytes. */
  readonly maxBufferSize: number;
  /** Whether several threads serve the gateway. */
  readonly hasThreads: boolean;
  /** PreRouting: the function runs before the route is chosen, and may change the choice. */
  readonly phase: "PreRouting" | "PostRouting";
  /** Name of the module's function, unique in the gateway. */
  readonly id: string;
  /** Whether a backend applies timeouts and retries itself. */
  readonly keepsLimits: boolean;
  /** Whether requests are forwarded to a backend. */
  readonly forwards: boolean;
  /** All policies of the route, in request order. */
  readonly policies: readonly PolicyUse[];
  /** CEL variables that earlier policies declare. */
  readonly variables: RouteVariables;
  /** Names of the gateway's tools that call another one, which the arguments name. */
  readonly toolCallers: readonly string[];
  /** Function that opens the constant with missing scopes; `undefined` if clients of the route are not told. */
  readonly openStepUp: ImportSymbol | undefined;
}

/** Template of a policy kind: its parts of routes' functions, and its traits. */
export interface PolicyTemplate<Kind extends PolicyKind> {
  readonly code: (use: PolicyUse<Kind>, scope: RouteScope) => PolicyCode;
  /** Returns the word in parentheses in the header of a module: `strict`. */
  readonly detail?: (settings: PolicySettings[Kind]) => string;
  /** CEL variable with the identity that its steps declare: `jwt`. */
  readonly identity?: string;
  /** CEL variables that the exchange has from here on. */
  readonly attributes?: (settings: PolicySettings[Kind]) => readonly string[];
  /** Function that opens the constant with missing scopes (`StepUp`), for later rules. */
  readonly openStepUp?: ImportSymbol;
  /** Returns how threads share the state that it persists; `undefined` if it persists none. */
  readonly persistedState?: (settings: PolicySettings[Kind]) => ImportSymbol | undefined;
  /** Whether it seals values that clients send back, so that all pods need the same key. */
  readonly hasSessions?: true;
  /**
   * Returns the cookie or header that clients send back (`OwnToken`), which backends do not get; `undefined` if there is none.
   * `id` is the route's.
   */
  readonly ownToken?: (settings: PolicySettings[Kind], id: string) => Code | undefined;
  /** Whether its steps precede the guard of the backend, which may refuse the request. */
  readonly isBeforeGuard?: boolean;
  /** Returns whether a part of it before routing waits for the route, because it is about model calls. */
  readonly asksBeforeCalls?: (settings: PolicySettings[Kind]) => boolean;
  /** Returns the origins of pages that it allows, with `*` for any part. */
  readonly allowedOrigins?: (settings: PolicySettings[Kind]) => readonly string[];
  /** Writes the policy of one backend; `suffix` distinguishes its functions from those of others. */
  readonly onBackend?: (use: PolicyUse<Kind>, suffix: string, scope: RouteScope) => OwnMessages;
  /** Writes the policy of the route's only backend, or of all of them, as steps before it is called. */
  readonly beforeBackend?: (use: PolicyUse<Kind>, scope: RouteScope) => BackendSteps;
  /** Returns the CEL variables that its functions read from the exchange, after its steps have begun. */
  readonly reads?: (settings: PolicySettings[Kind]) => readonly string[];
  /** Returns the CEL variables that it reads on one backend. */
  readonly backendReads?: (settings: PolicySettings[Kind]) => readonly string[];
  /** Writes the policy of a route of connections. */
  readonly connection?: (use: PolicyUse<Kind>, scope: ConnectionScope) => readonly ConnectionPart[];
  /**
   * Writes the policy of every connection, before routing: a function of this name that returns whether the client
   * may connect.
   */
  readonly connectionRules?: (
    use: PolicyUse<Kind>,
    label: string,
    scope: ConnectionScope,
  ) => readonly Code[];
}

/** Code of a policy that runs before a backend is called. */
export interface BackendSteps {
  /** Functions of the module. */
  readonly declarations: readonly Hole[];
  /** Statements that may wait; each continues or ends the exchange. */
  readonly steps: readonly Hole[];
  /** Whether the body of requests is buffered before. */
  readonly readsRequestBody: boolean;
}

/** Code of a policy about one backend's messages. */
export interface OwnMessages {
  /** Functions of the module. */
  readonly declarations: readonly Hole[];
  /** Settings of the connections. */
  readonly settings: Readonly<Record<string, Printable>>;
  /** Statements before a tunnel is opened; each continues or ends the exchange. Absent if tunnels need no statements. */
  readonly admission?: readonly Hole[];
  /** Whether the body of requests is buffered before. */
  readonly readsRequestBody: boolean;
}

/** Context of a policy's template on a route of connections. */
export interface ConnectionScope {
  readonly trace: Trace;
  readonly expressions: Expressions;
}
