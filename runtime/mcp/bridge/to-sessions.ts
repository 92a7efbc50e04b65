import { createHash } from "node:crypto";
import { isObjectAt } from "../../json/json-text.ts";
import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { unsealSession } from "../session/session-seal.ts";
import type { StatelessBridge, StatelessCaller } from "../transports/backend.ts";
import { type Call, type CallSink, endedCall } from "../transports/target.ts";
import { openLease } from "./lease.ts";
import { type LeasePool, leasePool } from "./lease-pool.ts";
import { digestOf, LeasedCall, stateOf } from "./leased-call.ts";
import { discoverResponse, ownMessage } from "./stateless-results.ts";

/** Serves clients of revision 2026-07-28 by targets that have sessions. */
export const toSessions: StatelessBridge = {
  call(caller, request, sink) {
    if (request.method === "subscriptions/listen") return listenToNothing(request, sink);
    const call = new StatelessRequest(caller, request, sink);
    void call.start();
    return call;
  },
};

/** What such a server says outside of calls reaches no client: it is told so at once, and may go on listening. */
function listenToNothing(request: Message, sink: CallSink): Call {
  const meta = `{"${metaKey.subscriptionId}":${request.id}}`;
  sink.onMessage(
    ownMessage(
      `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":${meta}}}`,
    ),
  );
  return endedCall;
}

class StatelessRequest implements Call {
  readonly #caller: StatelessCaller;
  readonly #request: Message;
  readonly #sink: CallSink;
  readonly #pool: LeasePool;
  #call: LeasedCall | undefined;
  #isOver = false;

  constructor(caller: StatelessCaller, request: Message, sink: CallSink) {
    this.#caller = caller;
    this.#request = request;
    this.#sink = sink;
    this.#pool = leasePool(caller.exchange.gateway);
  }

  async start(): Promise<void> {
    const state = stateOf(this.#request);
    if (state !== undefined) {
      this.#goOn(state);
      return;
    }
    const { exchange, backend, target, owner } = this.#caller;
    const said = saidBy(this.#request);
    const key = keyOf(this.#caller, said);
    const known = key === undefined ? undefined : this.#pool.take(key);
    const lease =
      known ?? (await openLease({ exchange, backend, target, caller: owner.caller, ...said }));
    if ("kind" in lease) {
      this.#sink.onFailure(lease);
      return;
    }
    if (this.#isOver) {
      this.#pool.giveBack(key, lease);
      return;
    }
    if (this.#request.method === "server/discover") {
      this.#pool.giveBack(key, lease);
      this.#sink.onResponse(discoverResponse(this.#request.id, lease.opened));
      return;
    }
    this.#call = new LeasedCall({
      pool: this.#pool,
      lease,
      key,
      binding: this.#binding(),
      mostParked: backend.limits.sessions,
    });
    this.#call.start(this.#leg());
  }

  cancel(): void {
    this.#isOver = true;
    this.#call?.cancel();
  }

  resume(): void {
    this.#call?.resumeReading();
  }

  #goOn(state: string): void {
    const { sessionKey } = this.#caller.exchange.gateway;
    const sealed = unsealSession(sessionKey, this.#binding(), state);
    // Authenticated text that this gateway wrote itself.
    const { id = "", e = 0 }: { readonly id?: string; readonly e?: number } =
      sealed === undefined ? {} : JSON.parse(sealed);
    this.#call = e > Date.now() ? this.#pool.unpark(id) : undefined;
    if (this.#call === undefined) {
      const message =
        sealed === undefined
          ? "Invalid requestState"
          : "The call that this requestState goes on with is over, or waits elsewhere: call again";
      this.#sink.onResponse(ownMessage(rpcError(this.#request.id, rpcCode.invalidParams, message)));
      return;
    }
    this.#call.resume(this.#leg());
  }

  #leg() {
    return { exchange: this.#caller.exchange, request: this.#request, sink: this.#sink };
  }

  #binding(): string {
    const { owner, target } = this.#caller;
    return `input\n${owner.binding}\n${target.name}\n${digestOf(this.#request)}`;
  }
}

interface SaidByClient {
  readonly capabilities: string;
  readonly clientInfo: string;
}

/** What a client says of itself with every request, as JSON text. */
function saidBy(request: Message): SaidByClient {
  const fields = metaFields(request);
  const member = (name: string, otherwise: string) => {
    const at = typeof fields === "string" ? undefined : fields.get(name);
    return at !== undefined && isObjectAt(request.text, at.start)
      ? textAt(request.text, at)
      : otherwise;
  };
  return {
    capabilities: member(metaKey.clientCapabilities, "{}"),
    clientInfo: member(metaKey.clientInfo, '{"name":"gwc","version":"1"}'),
  };
}

/**
 * Whose session with a target it is: never somebody else's, and one of the same abilities. Undefined: nobody knows who asks.
 */
function keyOf(
  { exchange, target, owner }: StatelessCaller,
  { capabilities, clientInfo }: SaidByClient,
): string | undefined {
  const credentials = [exchange.header("authorization"), exchange.header("cookie")];
  if (!owner.isKnown && credentials[0] === undefined) return undefined;
  const parts = [owner.binding, target.name, ...credentials, capabilities, clientInfo];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
