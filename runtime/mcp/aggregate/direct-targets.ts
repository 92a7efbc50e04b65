import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import { allFeatures } from "../session/session.ts";
import type { DirectTarget, ServedSession } from "../session/session-context.ts";
import { callerBinding, isKnownCaller, sessionCaller } from "../session/sessions.ts";
import { discoverOverHttp } from "../stateless/discovery.ts";
import { callChild, discoverChild, sharedChild } from "../stateless/shared-child.ts";
import { callStateless } from "../stateless/stateless-call.ts";
import type { McpBackend, RequestOwner, StatelessBridge } from "../transports/backend.ts";
import type { Call, CallSink, McpTarget, StdioTarget } from "../transports/target.ts";

/** Returns the targets of a route for a client without sessions. */
export function directTargets(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): readonly DirectTarget[] {
  const owner = ownerOf(exchange, backend, access);
  return backend.targets.map((target) => ({
    kind: "direct",
    era: "stateless",
    features: allFeatures,
    call: (request, sink) => {
      const call = new DirectCall(sink);
      void call.start(findWay(exchange, backend, target, owner), request);
      return call;
    },
  }));
}

/** Returns the same for a client with sessions where the gateway stores none. */
export function singleCallTargets(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  bridge: StatelessBridge,
): readonly DirectTarget[] {
  const owner = ownerOf(exchange, backend, access);
  return backend.targets.map((target) => ({
    kind: "direct",
    era: "sessions",
    features: allFeatures,
    call: (request, sink) => bridge.call({ exchange, backend, target, owner }, request, sink),
  }));
}

/** Returns the session of a single request, which ends with it. */
export function directSession(targets: readonly DirectTarget[]): ServedSession {
  return { initialize: undefined, isEnded: false, targets, streams: new Set() };
}

function ownerOf(exchange: Exchange, backend: McpBackend, access: McpAuthorization): RequestOwner {
  return {
    binding: callerBinding(exchange, backend, access),
    caller: sessionCaller(exchange, access),
    isKnown: isKnownCaller(exchange, access),
  };
}

/** How a request reaches a target, or why it cannot. */
type Way =
  | { readonly kind: "open"; call(request: Message, sink: CallSink): Call }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

async function findWay(
  exchange: Exchange,
  backend: McpBackend,
  target: McpTarget,
  owner: RequestOwner,
): Promise<Way> {
  const { limits } = backend;
  switch (target.kind) {
    case "sse":
    case "openapi":
      return withSessions(exchange, backend, target, owner);
    case "streamableHttp": {
      const probe = () => discoverOverHttp(exchange, target, limits.message);
      const verdict = await target.era.findStateless(probe);
      if (typeof verdict === "object") return { kind: "failure", failure: verdict };
      // A target that refuses to say is called anyway: the client should see its refusal.
      if (verdict === false) return withSessions(exchange, backend, target, owner);
      return {
        kind: "open",
        call: (request, sink) => {
          // The client's repeated headers describe the call that the client makes, not other calls.
          const repeated = exchange.header("mcp-method") === request.method ? undefined : [];
          const own = backend.toolFront?.paramHeaders(exchange, target, request) ?? repeated;
          return callStateless(exchange, target, limits.message, request, sink, own);
        },
      };
    }
    case "stdio":
      return findChild(exchange, backend, target, owner);
  }
}

async function findChild(
  exchange: Exchange,
  backend: McpBackend,
  target: StdioTarget,
  owner: RequestOwner,
): Promise<Way> {
  if (target.era.isStateless === false) return withSessions(exchange, backend, target, owner);
  const child = sharedChild(exchange, backend, target, owner);
  if ("failure" in child) return { kind: "failure", failure: child.failure };
  const { connection } = child;
  const probe = () => discoverChild(connection, backend.timeouts.fanOut);
  const verdict = await target.era.findStateless(probe);
  if (typeof verdict === "object") return { kind: "failure", failure: verdict };
  if (verdict === false) {
    connection.close();
    return withSessions(exchange, backend, target, owner);
  }
  return {
    kind: "open",
    call: (request, sink) => callChild(exchange, target, connection, request, sink),
  };
}

/** Calls a target with sessions in a session of the gateway. */
function withSessions(
  exchange: Exchange,
  backend: McpBackend,
  target: McpTarget,
  owner: RequestOwner,
): Way {
  const { toSessions } = backend;
  const detail = "supports only revisions with sessions";
  if (toSessions === undefined) return { kind: "failure", failure: { kind: "protocol", detail } };
  const caller = { exchange, backend, target, owner };
  return { kind: "open", call: (request, sink) => toSessions.call(caller, request, sink) };
}

/** A call that starts once it is known how the target is reached. */
class DirectCall implements Call {
  readonly #sink: CallSink;
  #call: Call | undefined;
  #isOver = false;

  constructor(sink: CallSink) {
    this.#sink = sink;
  }

  async start(finding: Promise<Way>, request: Message): Promise<void> {
    const way = await finding;
    if (this.#isOver) return;
    if (way.kind === "failure") this.#sink.onFailure(way.failure);
    else this.#call = way.call(request, this.#sink);
  }

  cancel(): void {
    this.#isOver = true;
    this.#call?.cancel();
  }

  resume(): void {
    this.#call?.resume();
  }
}
