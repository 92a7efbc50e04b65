import { createHash } from "node:crypto";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { unsealSession } from "../../process/session-seal.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { inputMethods } from "../protocol/methods.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { McpMetrics } from "../rules/mcp-metrics.ts";
import type { StatelessBridge, StatelessCaller } from "../transports/backend.ts";
import type { Call, CallSink } from "../transports/target.ts";
import { type LeaseOptions, openLease } from "./lease.ts";
import { LeasePool } from "./lease-pool.ts";
import { LeasedCall, type Leg, type ParkedState } from "./leased-call.ts";
import { LeasedListener } from "./leased-listener.ts";
import { isAnswerable, requestDigest, requestStateOf, saidByClient } from "./stateless-request.ts";
import { discoverResponse } from "./stateless-results.ts";

/** Serves clients of revision 2026-07-28 by targets that have sessions. */
export const toSessions: StatelessBridge = {
  call(caller, request, sink) {
    const call =
      request.method === "subscriptions/listen"
        ? new LeasedListener(leaseOptions(caller, request), request, sink)
        : new StatelessRequest(caller, request, sink);
    void call.start();
    return call;
  },
};

class StatelessRequest implements Call {
  readonly #caller: StatelessCaller;
  readonly #request: Message;
  readonly #sink: CallSink;
  readonly #pool: LeasePool<LeasedCall>;
  #call: LeasedCall | undefined;
  #isOver = false;

  constructor(caller: StatelessCaller, request: Message, sink: CallSink) {
    this.#caller = caller;
    this.#request = request;
    this.#sink = sink;
    this.#pool = leasePool(caller.exchange.gateway);
  }

  async start(): Promise<void> {
    const state = requestStateOf(this.#request);
    if (state === undefined) await this.#open();
    else this.#goOn(state);
  }

  cancel(): void {
    this.#isOver = true;
    this.#call?.cancel();
  }

  resume(): void {
    this.#call?.resume();
  }

  async #open(): Promise<void> {
    const { backend, owner } = this.#caller;
    const options = leaseOptions(this.#caller, this.#request);
    const key = keyOf(this.#caller, options);
    const known = key === undefined ? undefined : this.#pool.take(key);
    const outcome = known ? { kind: "lease" as const, lease: known } : await openLease(options);
    if (outcome.kind === "failure") {
      this.#sink.onFailure(outcome.failure);
      return;
    }
    const { lease } = outcome;
    if (this.#isOver || this.#request.method === "server/discover") {
      this.#pool.giveBack(key, lease);
      if (!this.#isOver) this.#sink.onResponse(discoverResponse(this.#request.id, lease.opened));
      return;
    }
    const { caller } = owner;
    const binding = this.#binding();
    const askable = askableMethods(this.#request, options);
    this.#call = new LeasedCall({
      pool: this.#pool,
      lease,
      backend,
      key,
      caller,
      askable,
      binding,
    });
    await this.#call.start(this.#leg());
  }

  #goOn(state: string): void {
    const { sessionKey } = this.#caller.exchange.gateway;
    const sealed = unsealSession(sessionKey, this.#binding(), state);
    if (sealed === undefined) {
      this.#refuse("Invalid requestState");
      return;
    }
    // Authenticated text that this gateway wrote itself.
    const { id, expiresAt }: ParkedState = JSON.parse(sealed);
    this.#call = expiresAt > Date.now() ? this.#pool.unpark(id) : undefined;
    if (this.#call === undefined) {
      this.#refuse(
        "The call that this requestState goes on with is over, or waits elsewhere: call again",
      );
    } else this.#call.goOn(this.#leg());
  }

  #refuse(message: string): void {
    this.#sink.onResponse(ownMessage(rpcError(this.#request.id, rpcCode.invalidParams, message)));
  }

  #leg(): Leg {
    return { exchange: this.#caller.exchange, request: this.#request, sink: this.#sink };
  }

  /** Where a state of this request is valid. */
  #binding(): string {
    const { owner, target } = this.#caller;
    const parts = [owner.binding, target.name, ...credentialsOf(this.#caller)];
    return `input\n${JSON.stringify(parts)}\n${requestDigest(this.#request)}`;
  }
}

/** The methods by which a client can be asked within a request: only some may end with questions (MCP 2026-07-28). */
function askableMethods({ method }: Message, { said }: LeaseOptions): ReadonlySet<string> {
  const mayAsk = method === "tools/call" || method === "prompts/get" || method === "resources/read";
  return new Set(mayAsk ? [...inputMethods].filter((each) => isAnswerable(said, each)) : []);
}

/** The pool of this process. */
function leasePool({
  sessions,
  metrics,
}: Pick<GatewayContext, "sessions" | "metrics">): LeasePool<LeasedCall> {
  const found = sessions.get(poolKey);
  // Only this function writes under the key.
  if (found !== undefined) return found as LeasePool<LeasedCall>;
  const pool = new LeasePool<LeasedCall>(metrics.part(McpMetrics));
  sessions.set(poolKey, pool);
  return pool;
}

const poolKey = "mcp leases";

function leaseOptions(
  { exchange, backend, target, owner: { caller } }: StatelessCaller,
  request: Message,
): LeaseOptions {
  return { exchange, backend, target, caller, said: saidByClient(request) };
}

/**
 * Whose session with a target it is: never somebody else's, and one of the same abilities. Undefined: nobody knows who asks.
 */
function keyOf(
  caller: StatelessCaller,
  { said: { capabilities, clientInfo } }: LeaseOptions,
): string | undefined {
  const { exchange, target, owner } = caller;
  if (!owner.isKnown && exchange.header("authorization") === undefined) return undefined;
  const who = [owner.binding, target.name, ...credentialsOf(caller)];
  return createHash("sha256")
    .update(JSON.stringify([...who, capabilities, clientInfo]))
    .digest("base64url");
}

/** A token that was renewed is the same caller's; one that the gateway has not checked may be anybody's, and tells them apart. */
function credentialsOf({ exchange, owner }: StatelessCaller): readonly (string | undefined)[] {
  return owner.isKnown ? [] : [exchange.header("authorization"), exchange.header("cookie")];
}
