import { type Message, ownMessage } from "../protocol/message.ts";
import { SESSION_REVISIONS } from "../protocol/revisions.ts";
import { rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { allFeatures } from "../session/session.ts";
import { bridgedContext } from "../session/session-context.ts";
import { sharedChild } from "../stateless/shared-child.ts";
import type { StatelessBridge, StatelessCaller } from "../transports/backend.ts";
import { newBridgedSession } from "../transports/session-bridge.ts";
import type { Call, CallSink } from "../transports/target.ts";
import { type Lease, openLease, refusalOf } from "./lease.ts";
import type { ClientDeclaration } from "./stateless-request.ts";

/** Serves clients with sessions where the gateway stores none: it opens a session with the target for each request. */
export const toSingleCalls: StatelessBridge = {
  call(caller, request, sink) {
    const call = new SingleCall(caller, sink);
    void call.start(request);
    return call;
  },
};

/** The client's own declaration is not stored after its `initialize`. */
const declared: ClientDeclaration = {
  capabilities: "{}",
  clientInfo: '{"name":"gwc","version":"1"}',
};

/** The revision of clients that send no version header (MCP 2025-06-18, transports, protocol version header). */
const REVISION_WITHOUT_HEADER = "2025-03-26";

/** A request with its own session, which ends with it. */
class SingleCall implements Call {
  readonly #caller: StatelessCaller;
  readonly #sink: CallSink;
  #lease: Lease | undefined;
  #call: Call | undefined;
  #isOver = false;

  constructor(caller: StatelessCaller, sink: CallSink) {
    this.#caller = caller;
    this.#sink = sink;
  }

  async start(request: Message): Promise<void> {
    const { exchange, target, owner } = this.#caller;
    if (!this.#hasSessions()) {
      this.#callStateless(request);
      return;
    }
    const named = exchange.header("mcp-protocol-version") ?? "";
    const revision = SESSION_REVISIONS.has(named) ? named : REVISION_WITHOUT_HEADER;
    const { caller } = owner;
    const outcome = await openLease({ ...this.#caller, target, caller, declared, revision });
    if (outcome.kind === "lease") this.#callInSession(outcome.lease, request);
    else if (this.#isOver) return;
    else if (this.#hasSessions()) this.#fail(outcome.failure);
    else this.#callStateless(request);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call?.cancel();
    this.#lease?.link.close();
  }

  resume(): void {
    this.#call?.resume();
  }

  /** Whether the target has sessions, or that is unknown. */
  #hasSessions(): boolean {
    const { target, backend } = this.#caller;
    if (target.kind === "sse" || target.kind === "openapi") return true;
    return target.era.hasSessions !== false || backend.toStateless === undefined;
  }

  #callInSession(lease: Lease, request: Message): void {
    if (this.#isOver) {
      lease.link.close();
      return;
    }
    this.#lease = lease;
    const onMessage = (message: Message) => this.#take(lease, message);
    lease.onMessage = onMessage;
    this.#call = lease.link.call(this.#caller.exchange, request, {
      onMessage,
      onResponse: (response) => {
        this.#end();
        this.#sink.onResponse(response);
      },
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** Forwards notifications; refuses requests, as the client could answer only with another request. */
  #take({ link }: Lease, message: Message): boolean {
    if (message.kind !== "request") return this.#isOver || this.#sink.onMessage(message);
    link.send(
      message.method === "ping" ? ownMessage(rpcResult(message.id, "{}")) : refusalOf(message),
    );
    return true;
  }

  /** Calls a target without sessions directly. */
  #callStateless(request: Message): void {
    const { exchange, backend, target, owner } = this.#caller;
    const child =
      target.kind === "stdio" ? sharedChild(exchange, backend, target, owner) : undefined;
    if (child !== undefined && "failure" in child) {
      this.#fail(child.failure);
      return;
    }
    const session = newBridgedSession(allFeatures, child?.connection);
    const initialize = `{"capabilities":${declared.capabilities},"clientInfo":${declared.clientInfo}}`;
    const context = { exchange, backend, session: { initialize } };
    const bridged = bridgedContext(context, { target, session });
    if (bridged === undefined) this.#fail({ kind: "protocol", detail: "has no sessions" });
    else this.#call = bridged.bridge.call(bridged, request, this.#sink);
  }

  #fail(failure: TargetFailure): void {
    this.#end();
    // The session belonged to the gateway; its loss must not make this client open another one.
    const kind = failure.kind === "session" ? "protocol" : failure.kind;
    this.#sink.onFailure({ ...failure, kind });
  }

  #end(): void {
    this.#isOver = true;
    this.#lease?.link.close();
  }
}
