import { createHash } from "node:crypto";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { unsealSession } from "../../process/session-seal.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";
import { NEWEST_SESSION_REVISION } from "../protocol/revisions.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { McpMetrics } from "../rules/mcp-metrics.ts";
import { otherThreadsOf } from "../stateless/cross-thread-sessions.ts";
import type { StatelessBridge, StatelessCaller } from "../transports/backend.ts";
import { type Call, type CallSink, endedCall } from "../transports/target.ts";
import { waitingCalls } from "../transports/waiting-calls.ts";
import { type LeaseOptions, openLease } from "./lease.ts";
import { LeasePool, type Leg } from "./lease-pool.ts";
import { LeasedCall, type ParkedState } from "./leased-call.ts";
import { LeasedListener } from "./leased-listener.ts";
import {
  clientDeclaration,
  isAnswerable,
  MAX_DECLARATION,
  requestDigest,
  requestStateOf,
} from "./stateless-request.ts";
import { discoverResponse } from "./stateless-results.ts";

/** Serves clients of revision 2026-07-28 from targets with sessions. */
export const toSessions: StatelessBridge = {
  call(caller, request, sink) {
    const options = leaseOptions(caller, request);
    const { capabilities, clientInfo } = options.declared;
    if (capabilities.length + clientInfo.length > MAX_DECLARATION) {
      const message = `Invalid params: the client's _meta is longer than ${MAX_DECLARATION} characters`;
      sink.onResponse(ownMessage(rpcError(request.id, rpcCode.invalidParams, message)));
      return endedCall;
    }
    const call =
      request.method === "subscriptions/listen"
        ? listener(caller, options, request, sink)
        : new StatelessRequest(caller, options, request, sink);
    void call.start();
    return call;
  },
};

function listener(
  caller: StatelessCaller,
  options: LeaseOptions,
  request: Message,
  sink: CallSink,
): LeasedListener {
  const { from } = sharing(caller, options, request);
  const pool = leasePool(caller.exchange.gateway);
  return new LeasedListener(options, request, sink, {
    // A session over HTTP may already use its only stream.
    take: () =>
      from === undefined || caller.target.kind !== "stdio" ? undefined : pool.take(from),
    giveBack: (lease) => pool.giveBack(from, lease),
  });
}

class StatelessRequest implements Call {
  readonly #caller: StatelessCaller;
  readonly #options: LeaseOptions;
  readonly #request: Message;
  readonly #sink: CallSink;
  readonly #pool: LeasePool<LeasedCall>;
  #call: Call | undefined;
  #isOver = false;

  constructor(caller: StatelessCaller, options: LeaseOptions, request: Message, sink: CallSink) {
    this.#caller = caller;
    this.#options = options;
    this.#request = request;
    this.#sink = sink;
    this.#pool = leasePool(caller.exchange.gateway);
  }

  async start(): Promise<void> {
    const state = requestStateOf(this.#request);
    if (state === undefined) await this.#open();
    else this.#continue(state);
  }

  cancel(): void {
    this.#isOver = true;
    this.#call?.cancel();
  }

  resume(): void {
    this.#call?.resume();
  }

  async #open(): Promise<void> {
    const { backend, exchange, owner } = this.#caller;
    const options = this.#options;
    const { from, to } = sharing(this.#caller, options, this.#request);
    const known = from === undefined ? undefined : this.#pool.take(from);
    const outcome = known ? { kind: "lease" as const, lease: known } : await openLease(options);
    if (outcome.kind === "failure") {
      this.#sink.onFailure(outcome.failure);
      return;
    }
    const { lease } = outcome;
    if (this.#isOver || this.#request.method === "server/discover") {
      this.#pool.giveBack(to, lease);
      if (!this.#isOver) this.#sink.onResponse(discoverResponse(this.#request.id, lease.opened));
      return;
    }
    const { caller } = owner;
    const binding = this.#binding();
    const askable = askableMethods(this.#request, options);
    const call = new LeasedCall({
      pool: this.#pool,
      lease,
      backend,
      gateway: exchange.gateway,
      key: to,
      caller,
      askable,
      binding,
    });
    this.#call = call;
    await call.start(this.#leg(), exchange);
  }

  #continue(state: string): void {
    const { gateway } = this.#caller.exchange;
    const { sessionKeys, threads } = gateway;
    const sealed = unsealSession(sessionKeys, this.#binding(), state);
    if (sealed === undefined) {
      this.#refuse("Invalid requestState");
      return;
    }
    // Authenticated JSON that this gateway wrote itself.
    const { id, expiresAt, thread, replica }: ParkedState = JSON.parse(sealed);
    const waiting = waitingCalls(gateway);
    const isElsewhere = replica !== undefined && replica !== waiting?.replica;
    const onGone = () => this.#refuseGone();
    // The clock of the replica with the call decides about its end.
    if (waiting !== undefined && replica !== undefined && isElsewhere)
      this.#call = waiting.continueAt(replica, id, this.#request, this.#sink, onGone);
    else if (expiresAt <= Date.now()) this.#refuseGone();
    else if (thread === undefined || thread === threads?.index) this.#continueHere(id);
    else this.#continueOnThread(thread, id);
  }

  #continueHere(id: string): void {
    const call = this.#pool.unpark(id);
    this.#call = call;
    if (call === undefined) this.#refuseGone();
    else call.continueWith(this.#leg());
  }

  /** Continues the call on its own thread. The policies of this request have already run here. */
  #continueOnThread(thread: number, id: string): void {
    const onGone = () => this.#refuseGone();
    const otherThreads = otherThreadsOf(this.#caller.exchange.gateway);
    if (otherThreads === undefined) onGone();
    else this.#call = otherThreads.continueCall({ thread, id, onGone }, this.#request, this.#sink);
  }

  #refuseGone(): void {
    this.#refuse("The call of this requestState has ended or waits on another replica: call again");
  }

  #refuse(message: string): void {
    this.#sink.onResponse(ownMessage(rpcError(this.#request.id, rpcCode.invalidParams, message)));
  }

  #leg(): Leg {
    return { request: this.#request, sink: this.#sink };
  }

  /** Returns the scope in which a state of this request is valid. */
  #binding(): string {
    const { owner, target } = this.#caller;
    const parts = [owner.binding, target.name, ...credentialsOf(this.#caller)];
    return `input\n${JSON.stringify(parts)}\n${requestDigest(this.#request)}`;
  }
}

/**
 * Returns the methods that the server may send to the client; only some requests may end with input requests (MCP
 * 2026-07-28).
 */
function askableMethods({ method }: Message, { declared }: LeaseOptions): ReadonlySet<string> {
  const mayAsk = method === "tools/call" || method === "prompts/get" || method === "resources/read";
  return new Set(mayAsk ? [...INPUT_METHODS].filter((each) => isAnswerable(declared, each)) : []);
}

/** Continues a call of this thread whose client has returned on another one. `undefined` if the call has ended. */
export function continueParkedCall(
  gateway: GatewayContext,
  id: string,
  leg: Leg,
): Call | undefined {
  const call = leasePool(gateway).unpark(id);
  call?.continueWith(leg);
  return call;
}

/** Returns the pool of this thread. */
function leasePool({
  sessions,
  metrics,
  threads,
}: Pick<GatewayContext, "sessions" | "metrics" | "threads">): LeasePool<LeasedCall> {
  const found = sessions.get(POOL_KEY);
  // Only this function writes under the key.
  if (found !== undefined) return found as LeasePool<LeasedCall>;
  const pool = new LeasePool<LeasedCall>(metrics.part(McpMetrics), threads);
  sessions.set(POOL_KEY, pool);
  return pool;
}

const POOL_KEY = "mcp leases";

function leaseOptions(
  { exchange, backend, target, owner: { caller } }: StatelessCaller,
  request: Message,
): LeaseOptions {
  const declared = clientDeclaration(request);
  return { exchange, backend, target, caller, declared, revision: NEWEST_SESSION_REVISION };
}

/**
 * The keys of the idle sessions that a request may use and under which its session is stored afterwards; `undefined` if
 * sessions are not shared.
 */
interface Sharing {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * Decides about reusing sessions. A session is reused by its own caller with the same capabilities. If the caller is
 * unknown, a child may still serve anybody as long as it has only listed its items: it receives no headers, and listing
 * leaves no data of the caller in it. After any other request it is closed. Without stored sessions, nothing is reused.
 */
function sharing(
  caller: StatelessCaller,
  { declared: { capabilities, clientInfo } }: LeaseOptions,
  { method }: Message,
): Sharing {
  const { exchange, backend, target, owner } = caller;
  if (backend.toSingleCalls !== undefined) return { from: undefined, to: undefined };
  const isKnown = owner.isKnown || exchange.header("authorization") !== undefined;
  if (!isKnown && target.kind !== "stdio") return { from: undefined, to: undefined };
  const who = [owner.binding, target.name, ...credentialsOf(caller)];
  const key = createHash("sha256")
    .update(JSON.stringify([isKnown, ...who, capabilities, clientInfo]))
    .digest("base64url");
  return { from: key, to: isKnown || HARMLESS.has(method) ? key : undefined };
}

/** Requests without any data of their callers. */
const HARMLESS: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
]);

/**
 * Returns the credentials that distinguish unknown callers. A known caller keeps its sessions when its token is renewed; an
 * unchecked token may belong to anybody.
 */
function credentialsOf({ exchange, owner }: StatelessCaller): readonly (string | undefined)[] {
  return owner.isKnown ? [] : [exchange.header("authorization"), exchange.header("cookie")];
}
