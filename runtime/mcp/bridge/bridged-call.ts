import { withParams } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt, withId } from "../protocol/message.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { McpMetrics } from "../rules/mcp-metrics.ts";
import type { BridgedContext, BridgedRequest } from "../transports/session-bridge.ts";
import { type Call, type CallSink, endedCall } from "../transports/target.ts";
import { newAskedId, type WaitingCalls, waitingCalls } from "../transports/waiting-calls.ts";
import { type InputRequest, neededInput } from "./input-requests.ts";
import { sendLeg } from "./send-leg.ts";
import { noteParamHeaders, sessionResponse } from "./session-results.ts";

/** Maximum number of times that a target may request input within one call, as in servers of the second SDK. */
const MAX_ROUNDS = 8;

const list = ownMessage('{"jsonrpc":"2.0","id":"gwc-list","method":"tools/list"}');

/**
 * A request of a client with a session to a target without sessions. If the target's result requests input, the client gets
 * requests on the stream of its own request, and the target is called again with the responses.
 */
export class BridgedCall implements BridgedRequest {
  readonly #context: BridgedContext;
  readonly #request: Message;
  readonly #sink: CallSink;
  readonly #metrics: McpMetrics;
  /** Through which the client's responses arrive from other replicas. */
  readonly #waiting: WaitingCalls | undefined;
  /** The unanswered requests to the client, by their ids. */
  readonly #asked = new Map<string, InputRequest>();
  /** The client's responses, by the target's names of the requests, as JSON text. */
  #responses: Record<string, string> = {};
  #state: string | undefined;
  #leg: Call | undefined;
  #rounds = 0;
  /** Whether the tools were already listed to learn which arguments calls repeat in headers. */
  #hasListed = false;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(context: BridgedContext, request: Message, sink: CallSink) {
    this.#context = context;
    this.#request = request;
    this.#sink = sink;
    this.#waiting = waitingCalls(context.exchange.gateway);
    this.#metrics = context.exchange.gateway.metrics.part(McpMetrics);
  }

  start(): void {
    this.#context.session.calls.set(this.#request.id, this);
    this.#send({});
  }

  cancel(): void {
    this.#finish();
    this.#leg?.cancel();
  }

  resume(): void {
    this.#leg?.resume();
  }

  takeBack(): void {
    if (this.#isOver) return;
    this.cancel();
    this.#sink.onFailure({ kind: "cancelled", detail: "cancelled" });
  }

  takeResponse(id: string, response: Message): boolean {
    const asked = this.#asked.get(id);
    if (asked === undefined) return false;
    this.#forget(id);
    const { result, text } = response;
    if (result !== undefined) this.#responses[asked.key] = textAt(text, result);
    else if (asked.request.method === "elicitation/create") {
      this.#responses[asked.key] = '{"action":"cancel"}';
    } else {
      this.#refuse(`The client did not answer ${asked.request.method}`);
      return true;
    }
    if (this.#asked.size === 0) this.#again();
    return true;
  }

  #again(): void {
    this.#stopWaiting();
    const responses = Object.entries(this.#responses).map(
      ([key, value]) => `${JSON.stringify(key)}:${value}`,
    );
    this.#responses = {};
    this.#send({
      ...(responses.length === 0 ? {} : { inputResponses: `{${responses.join(",")}}` }),
      ...(this.#state === undefined ? {} : { requestState: this.#state }),
    });
  }

  /** Lists the tools after the server has missed a header: the list says which arguments calls repeat in headers. */
  #list(params: Readonly<Record<string, string>>): void {
    this.#hasListed = true;
    this.#leg = sendLeg(this.#context, list, {
      onMessage: () => true,
      onResponse: (response) => {
        noteParamHeaders(this.#context.session, response);
        if (!this.#isOver) this.#send(params);
      },
      onFailure: (failure) => this.#lose(failure),
    });
  }

  #send(params: Readonly<Record<string, string>>): void {
    const request =
      Object.keys(params).length === 0 ? this.#request : withParams(this.#request, {}, params);
    this.#leg = sendLeg(this.#context, request, {
      onMessage: (message) => message.kind !== "notification" || this.#sink.onMessage(message),
      onResponse: (response) => {
        const isMissing = errorCodeOf(response) === rpcCode.headerMismatch;
        const isCall = this.#request.method === "tools/call";
        if (isMissing && isCall && !this.#hasListed && !this.#isOver) this.#list(params);
        else this.#take(response);
      },
      onFailure: (failure) => this.#lose(failure),
    });
  }

  #take(response: Message): void {
    if (this.#isOver) return;
    const needed = neededInput(response, () => newAskedId(this.#waiting));
    if (needed === undefined) {
      this.#finish();
      const { session } = this.#context;
      const shown = sessionResponse(session, this.#request, response);
      this.#sink.onResponse(withId(shown, this.#request.id));
      return;
    }
    if (typeof needed === "string") {
      this.#fail(needed);
      return;
    }
    if (++this.#rounds > MAX_ROUNDS) {
      this.#fail("requested input too often");
      return;
    }
    this.#state = needed.state;
    if (needed.requests.length === 0) {
      this.#again();
      return;
    }
    const { inputTimeout } = this.#context;
    this.#timer = setTimeout(() => this.#refuse("The client did not answer in time"), inputTimeout);
    this.#metrics.beginWaiting("sessions");
    for (const each of needed.requests) this.#wait(each);
    for (const { request } of needed.requests) this.#sink.onMessage(request);
  }

  #wait(each: InputRequest): void {
    const { id } = each.request;
    this.#asked.set(id, each);
    this.#waiting?.add(id, (response, sink) => {
      if (!this.takeResponse(id, response)) return undefined;
      sink.onResponse(response);
      return endedCall;
    });
  }

  #forget(id: string): void {
    this.#asked.delete(id);
    this.#waiting?.delete(id);
  }

  #stopWaiting(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#metrics.endWaiting("sessions");
  }

  #fail(detail: string): void {
    this.#lose({ kind: "protocol", detail });
  }

  #lose(failure: TargetFailure): void {
    this.#finish();
    this.#sink.onFailure(failure);
  }

  /** Ends the request with an error of the gateway, for the client to read. */
  #refuse(message: string): void {
    this.#finish();
    this.#sink.onResponse(ownMessage(rpcError(this.#request.id, rpcCode.internal, message)));
  }

  #finish(): void {
    this.#isOver = true;
    for (const id of Array.from(this.#asked.keys())) this.#forget(id);
    this.#stopWaiting();
    const { calls } = this.#context.session;
    if (calls.get(this.#request.id) === this) calls.delete(this.#request.id);
  }
}
