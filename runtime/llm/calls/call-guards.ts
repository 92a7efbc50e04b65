import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { JsonBody } from "../../json/json-body.ts";
import { hasRepeatedKey, objectMembers, skipSpace } from "../../json/json-text.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { type TextFormat, textMembers } from "../chat/texts.ts";
import { isClearJson } from "../guards/clear-json.ts";
import { GuardRun } from "../guards/guard-run.ts";
import { guardedObject, membersMap } from "../guards/guarded-object.ts";
import type { PromptGuard } from "../guards/prompt-guard.ts";
import { recordGuards } from "../guards/record-guards.ts";
import type { ChatCall } from "./chat-call.ts";
import { guardError, type ResponseGuard } from "./response-guard.ts";
import type { LlmTarget } from "./target.ts";

/** Guards of one call, across providers. A guard that several providers share checks the same text once. */
export class CallGuards {
  readonly #exchange: Exchange;
  readonly #sent: ChatCall;
  readonly #format: TextFormat;
  readonly #seen = new Map<PromptGuard, { readonly text: string; readonly guarded: ChatCall }>();

  /** `sent`: the client's call. */
  constructor(exchange: Exchange, sent: ChatCall, format: TextFormat) {
    this.#exchange = exchange;
    this.#sent = sent;
    this.#format = format;
  }

  /** Returns the call as a target may see it; synchronously if its texts are clear. Throws LlmRefusal if a guard refuses it. */
  callFor({ guard }: LlmTarget, call: ChatCall): MaybePromise<ChatCall> {
    if (guard === undefined || guard.request.length === 0) return call;
    const seen = this.#seen.get(guard);
    if (seen?.text === call.text) return seen.guarded;
    const run = new GuardRun("request", this.#exchange, this.#sent);
    const { simple } = this.#format;
    if (simple !== undefined && isClearJson(call.text, simple.request, guard.request, run)) {
      recordGuards(this.#exchange, guard.request, run);
      this.#seen.set(guard, { text: call.text, guarded: call });
      return call;
    }
    return this.#guarded(guard, call, run);
  }

  async #guarded(guard: PromptGuard, call: ChatCall, run: GuardRun): Promise<ChatCall> {
    const field = this.#format.unreadable?.(call.body);
    if (field !== undefined) throw unreadable(field);
    if (hasRepeatedKey(call.text)) throw REPEATED;
    const members = textMembers(call.body, this.#format);
    const body = await guardedObject(guard.request, call.body, membersMap(members), run);
    recordGuards(this.#exchange, guard.request, run);
    if (run.error !== undefined) throw new LlmRefusal(run.error);
    const guarded = withBody(call, body);
    this.#seen.set(guard, { text: call.text, guarded });
    return guarded;
  }

  /** Returns the guard of a target's response; `undefined` if there is no guard. */
  responseGuard({ guard }: LlmTarget, { isStream }: ChatCall): ResponseGuard | undefined {
    if (guard === undefined || guard.response.length === 0) return undefined;
    if (isStream && guard.passesStreams === true) return undefined;
    const run = new GuardRun("response", this.#exchange, this.#sent);
    return { run, steps: guard.response, format: this.#format };
  }

  /** Returns a provider's error as the client may see it. Rejects with LlmRefusal if a guard refuses it. */
  async errorFor({ guard }: LlmTarget, error: LlmError): Promise<LlmError> {
    if (guard === undefined || guard.response.length === 0) return error;
    const run = new GuardRun("response", this.#exchange, this.#sent);
    const given = await guardError(error, { run, steps: guard.response });
    recordGuards(this.#exchange, guard.response, run);
    if (run.error !== undefined) throw new LlmRefusal(run.error);
    return given;
  }

  /** Records the outcome of a response. */
  settle({ steps, run }: ResponseGuard): void {
    recordGuards(this.#exchange, steps, run);
  }
}

/** Guards would read the last of both values, but the provider may read the first. */
const REPEATED = new LlmRefusal({
  kind: "invalid",
  message: "an object in the request body repeats a key",
});

/** Content that guards cannot read must not pass them. */
function unreadable(field: string): LlmRefusal {
  const message = `the guards of this route cannot read "${field}": send strings`;
  return new LlmRefusal({ kind: "unsupported", message, field });
}

/** Returns the call with changed members of its body; the call itself if all are unchanged. */
function withBody(call: ChatCall, body: JsonObject): ChatCall {
  if (body === call.body) return call;
  const edited = new JsonBody(call.text, call.members);
  for (const [key, value] of Object.entries(body)) {
    if (value !== call.body[key]) edited.set(key, JSON.stringify(value));
  }
  const text = edited.toString();
  return call.with({ text, members: objectMembers(text, skipSpace(text, 0)), body });
}
