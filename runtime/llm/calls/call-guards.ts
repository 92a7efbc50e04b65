import type { Exchange } from "../../http/exchange.ts";
import { guardChecks } from "../../telemetry/metrics/table/guards.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { TextFormat } from "../chat/texts.ts";
import { GuardRun } from "../guards/guard-run.ts";
import { type PromptGuard, rejectionError } from "../guards/prompt-guard.ts";
import type { ChatCall } from "./chat-call.ts";
import { guardCall } from "./guard-call.ts";
import type { ResponseGuard } from "./guard-response.ts";
import type { LlmTarget } from "./target.ts";

/** The guards of one call, whoever is asked: what guards the requests of several providers sees the call once. */
export class CallGuards {
  readonly #exchange: Exchange;
  readonly #call: ChatCall;
  readonly #format: TextFormat;
  readonly #guarded = new Map<PromptGuard, ChatCall>();

  constructor(exchange: Exchange, call: ChatCall, format: TextFormat) {
    this.#exchange = exchange;
    this.#call = call;
    this.#format = format;
  }

  /** The call as a target may see it. Throws LlmRefusal when it may not. */
  callFor({ guard }: LlmTarget): ChatCall {
    if (guard === undefined || guard.request.length === 0) return this.#call;
    const known = this.#guarded.get(guard);
    if (known !== undefined) return known;
    const run = new GuardRun(guard.request);
    const guarded = guardCall(this.#call, this.#format, run);
    this.#record("request", run);
    if (run.rejection !== undefined) throw new LlmRefusal(rejectionError(run.rejection));
    this.#guarded.set(guard, guarded);
    return guarded;
  }

  /** What guards the response of a target; undefined: nothing does. */
  responseGuard({ guard }: LlmTarget): ResponseGuard | undefined {
    if (guard === undefined || guard.response.length === 0) return undefined;
    return { run: new GuardRun(guard.response), format: this.#format };
  }

  /** Notes what became of a response. */
  settle({ run }: ResponseGuard): void {
    this.#record("response", run);
  }

  /** What matched is nobody's business. */
  #record(phase: "request" | "response", run: GuardRun): void {
    const { record, gateway } = this.#exchange;
    gateway.metrics.counter(guardChecks, phase, run.verdict).value += 1;
    if (run.matches.size === 0) return;
    record.fields ??= new Map();
    record.fields.set(`guard.${phase}.matches`, String(run.matchCount));
  }
}
