import { decodeBody } from "../../http/body/content-coding.ts";
import type { Exchange } from "../../http/exchange.ts";
import { EditedList } from "../../http/headers/header-edits.ts";
import { HeldResponse } from "../../http/held-response.ts";
import { ReceivedResponse } from "../../http/received-response.ts";
import type { ResponseSink } from "../../http/response-sink.ts";
import { withinDeadline } from "../custom.ts";
import { type CustomPolicy, countCall, noteHookFailure } from "./custom-policy.ts";
import { hasNoBody, ResponseView, requirePlain, respondInstead } from "./custom-response.ts";
import { hookBody } from "./hook-body.ts";
import { MadeRefusal } from "./made-refusal.ts";
import { type KnownIdentities, RequestView } from "./request-view.ts";

const HOOK = "responseBody";

/** Runs the `responseBody` hook of a policy on every later response to the exchange, of at most `limit` bytes. */
export function applyToResponseBody(
  exchange: Exchange,
  policy: CustomPolicy,
  limit: number,
  identities?: KnownIdentities,
): void {
  requirePlain(exchange);
  const view = new RequestView(exchange, identities).close();
  exchange.interceptResponse((next) => new CustomBodyFilter(exchange, next, policy, view, limit));
}

/** Holds a response until the hook has read its body. If the hook fails, the response is replaced by a refusal. */
class CustomBodyFilter extends HeldResponse {
  readonly #policy: CustomPolicy;
  readonly #request: RequestView;

  constructor(
    exchange: Exchange,
    next: ResponseSink,
    policy: CustomPolicy,
    request: RequestView,
    limit: number,
  ) {
    super(exchange, next, { limit });
    this.#policy = policy;
    this.#request = request;
  }

  protected override finish(
    head: ReceivedResponse,
    body: Buffer,
    trailers: readonly string[] | undefined,
  ): void {
    if (hasNoBody(this.exchange, head.status)) super.finish(head, body, trailers);
    else void this.#change(head, body, trailers).catch(() => this.exchange.abort());
  }

  async #change(
    head: ReceivedResponse,
    body: Buffer,
    trailers: readonly string[] | undefined,
  ): Promise<void> {
    const { exchange, next } = this;
    const policy = this.#policy;
    const { status, headers } = head;
    const edited = new EditedList(headers, false);
    const response = new ResponseView(status, edited, this.#request);
    try {
      const coding = head.header("content-encoding");
      const content = await decodeBody(body, coding, this.limit, exchange.newBuffer());
      if (typeof content === "string") throw new Error(`cannot decode the response: ${content}`);
      // A copy: the hook may keep or change it.
      const made = await withinDeadline(exchange, policy, this.#request, HOOK, () =>
        policy.definition.responseBody?.(new Uint8Array(content), policy.options, response),
      );
      response.close();
      if (exchange.isOver) return;
      if (MadeRefusal.isMade(made)) {
        respondInstead(exchange, next, policy, HOOK, made);
        return;
      }
      const bytes = made === undefined ? body : hookBody(made, this.limit);
      if (made !== undefined) edited.remove("content-encoding");
      const given = new ReceivedResponse(response.checkedStatus, edited.list);
      countCall(exchange, policy, HOOK, "ok");
      if (bytes.length === 0 && trailers === undefined)
        next.respond(given.status, given.headers, bytes);
      else super.finish(given, bytes, trailers);
    } catch (error) {
      response.close();
      if (exchange.isOver) return;
      noteHookFailure(exchange, policy, HOOK, error);
      if (policy.passesOnFailure) super.finish(head, body, trailers);
      else respondInstead(exchange, next, policy, HOOK);
    }
  }
}
