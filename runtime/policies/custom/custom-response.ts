import type { Exchange } from "../../http/exchange.ts";
import { EditedList } from "../../http/headers/header-edits.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { ResponseSink } from "../../http/response-sink.ts";
import type { PolicyHeaders, PolicyRequest, PolicyResponse } from "../../policy/policy.ts";
import {
  type CustomPolicy,
  countCall,
  type HookName,
  noteHookFailure,
  noteHookRefusal,
  runHook,
} from "./custom-policy.ts";
import { type MadeRefusal, refusalFields } from "./made-refusal.ts";
import { EditableHeaders } from "./policy-headers.ts";
import { type KnownIdentities, RequestView } from "./request-view.ts";

/** Runs the `response` hook of a policy on the head of every later response to the exchange. */
export function applyToResponse(
  exchange: Exchange,
  policy: CustomPolicy,
  identities?: KnownIdentities,
): void {
  exchange.interceptResponse(
    (next) =>
      new CustomFilter(exchange, policy, next, new RequestView(exchange, identities).close()),
  );
}

/** A response as a custom policy sees it. */
export class ResponseView implements PolicyResponse {
  status: number;
  readonly headers: PolicyHeaders;
  readonly request: PolicyRequest;
  readonly #edits: EditableHeaders;

  constructor(status: number, list: EditedList, request: PolicyRequest) {
    this.status = status;
    this.#edits = new EditableHeaders((name) => headerValue(list.list, name), list);
    this.headers = this.#edits;
    this.request = request;
  }

  /** Makes the headers read-only, because they are sent. */
  close(): void {
    this.#edits.close();
  }

  /** Its status. Throws if a hook has set one that a response cannot have. */
  get checkedStatus(): number {
    const { status } = this;
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new RangeError("a status is from 200 to 599");
    return status;
  }
}

/** Asks servers for responses that are not compressed, because hooks read their bodies. */
export function requirePlain(exchange: Exchange): void {
  exchange.removeRequestHeader("accept-encoding");
}

/** Whether a response has no body (RFC 9110 6.4.1). */
export function hasNoBody({ original }: Exchange, status: number): boolean {
  return original.method === "HEAD" || status === 204 || status === 304;
}

const PLAIN = "text/plain; charset=utf-8";

/** Responds with the refusal of a hook, or with 500 if it has failed, instead of a response. */
export function respondInstead(
  exchange: Exchange,
  next: ResponseSink,
  policy: CustomPolicy,
  hook: HookName,
  refusal?: MadeRefusal,
): void {
  exchange.record.reason = "Custom";
  if (refusal === undefined) {
    next.respond(500, ["content-type", PLAIN], "internal error");
    return;
  }
  noteHookRefusal(exchange, policy, hook);
  const { list, contentType = PLAIN } = refusalFields(refusal);
  next.respond(refusal.status, [...list, "content-type", contentType], refusal.message);
}

/** Throws if a hook that is not awaited returned a promise, whose changes would come too late. */
export function refusePromise(made: unknown): void {
  if (!(made instanceof Promise)) return;
  made.catch(() => {});
  throw new TypeError("a hook for the head of a response returned a promise");
}

/** Changes the head of a response. If the hook fails, the response is replaced by a refusal. */
class CustomFilter implements ResponseSink {
  readonly #exchange: Exchange;
  readonly #policy: CustomPolicy;
  readonly #next: ResponseSink;
  readonly #request: RequestView;
  /** Whether the response was replaced, so that its body is discarded. */
  #isReplaced = false;

  constructor(exchange: Exchange, policy: CustomPolicy, next: ResponseSink, request: RequestView) {
    this.#exchange = exchange;
    this.#policy = policy;
    this.#next = next;
    this.#request = request;
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const head = this.#changed(status, headers);
    if (head !== undefined) this.#next.respond(head.status, head.headers, body);
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    const head = this.#changed(status, headers);
    if (head !== undefined) this.#next.writeHead(head.status, head.headers, length);
  }

  write(chunk: string | Uint8Array): boolean {
    return this.#isReplaced || this.#next.write(chunk);
  }

  end(trailers?: readonly string[]): void {
    if (!this.#isReplaced) this.#next.end(trailers);
  }

  onDrain(listener: () => void): void {
    this.#next.onDrain(listener);
  }

  withdraw(): void {
    this.#isReplaced = false;
    this.#next.withdraw();
  }

  leave(): void {
    this.#next.leave();
  }

  /** Returns the changed head; `undefined` if the hook failed and the response was replaced. */
  #changed(
    status: number,
    headers: readonly string[],
  ): { readonly status: number; readonly headers: readonly string[] } | undefined {
    const edited = new EditedList(headers, false);
    const response = new ResponseView(status, edited, this.#request);
    const { name, definition, options } = this.#policy;
    try {
      const made: unknown = runHook(this.#exchange, name, "response", () =>
        definition.response?.(response, options),
      );
      refusePromise(made);
      const { checkedStatus } = response;
      countCall(this.#exchange, this.#policy, "response", "ok");
      return { status: checkedStatus, headers: edited.list };
    } catch (error) {
      return this.#failed(error, status, headers);
    } finally {
      response.close();
    }
  }

  #failed(error: unknown, status: number, headers: readonly string[]) {
    noteHookFailure(this.#exchange, this.#policy, "response", error);
    if (this.#policy.passesOnFailure) return { status, headers };
    this.#isReplaced = true;
    respondInstead(this.#exchange, this.#next, this.#policy, "response");
    return undefined;
  }
}
