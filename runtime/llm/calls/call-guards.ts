import type { TextFormat } from "../chat/texts.ts";
import { GuardRun } from "../guards/guard-run.ts";
import type { PromptGuard } from "../guards/prompt-guard.ts";
import type { ChatCall } from "./chat-call.ts";
import { guardCall } from "./guard-call.ts";
import type { ResponseGuard } from "./guard-response.ts";
import type { LlmTarget } from "./target.ts";

/** The guards of one call, whoever is asked: what guards the requests of several providers sees the call once. */
export class CallGuards {
  readonly #call: ChatCall;
  readonly #format: TextFormat;
  readonly #guarded = new Map<PromptGuard, ChatCall>();

  constructor(call: ChatCall, format: TextFormat) {
    this.#call = call;
    this.#format = format;
  }

  /** The call as a target may see it. Throws LlmRefusal when it may not. */
  callFor({ guard }: LlmTarget): ChatCall {
    if (guard === undefined || guard.request.length === 0) return this.#call;
    const known = this.#guarded.get(guard);
    if (known !== undefined) return known;
    const guarded = guardCall(this.#call, this.#format, new GuardRun(guard.request));
    this.#guarded.set(guard, guarded);
    return guarded;
  }

  /** What guards the response of a target; undefined: nothing does. */
  responseGuard({ guard }: LlmTarget): ResponseGuard | undefined {
    if (guard === undefined || guard.response.length === 0) return undefined;
    return { run: new GuardRun(guard.response), format: this.#format };
  }
}
