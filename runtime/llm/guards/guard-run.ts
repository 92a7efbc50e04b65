import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, RefusalReason } from "../../http/exchange.ts";
import type { LlmError } from "../chat/llm-error.ts";

/** Response of a rejecting guard. */
export interface GuardRejection {
  readonly status: number;
  /** Message for the client, in its own format. */
  readonly message: string;
  /** Body instead of the format's; `headers`: a flat list. */
  readonly own?: { readonly body: string; readonly headers: readonly string[] };
}

/** Action of a guard. `passed`: its server is unavailable, and texts pass; `failed`: the same, and texts are rejected. */
export type GuardAction = "pass" | "mask" | "reject" | "passed" | "failed";

/** Outcome of one guard for the texts of a request or response. */
export interface GuardOutcome {
  action: GuardAction;
  matches: number;
  /** Duration; `undefined` if it was not measured, as for pieces of a stream. */
  milliseconds: number | undefined;
}

/** Run of one request or response through the guards. */
export class GuardRun {
  readonly phase: "request" | "response";
  /** Exchange of the texts; `undefined` when guards are only tried. */
  readonly exchange: Exchange | undefined;
  /** Outcomes of guards that found something, or sent requests. */
  readonly outcomes = new Map<Guard, GuardOutcome>();
  /** Error for the client after a rejection; no text is forwarded then. */
  error: LlmError | undefined;

  /** The client's call of a model, whose body is parsed on access; `undefined` if the texts belong to none. */
  readonly call: { readonly body: JsonObject } | undefined;

  constructor(phase: "request" | "response", exchange?: Exchange, call?: GuardRun["call"]) {
    this.phase = phase;
    this.exchange = exchange;
    this.call = call;
  }

  /** Returns the outcome of a guard so far. */
  outcomeOf(guard: Guard): GuardOutcome {
    const known = this.outcomes.get(guard);
    if (known !== undefined) return known;
    const outcome: GuardOutcome = { action: "pass", matches: 0, milliseconds: undefined };
    this.outcomes.set(guard, outcome);
    return outcome;
  }

  /** Adds to the duration of a guard. */
  spend(guard: Guard, milliseconds: number): void {
    const outcome = this.outcomeOf(guard);
    outcome.milliseconds = (outcome.milliseconds ?? 0) + milliseconds;
  }

  /** Records replacements of a guard. */
  match(guard: Guard, matches: number): void {
    const outcome = this.outcomeOf(guard);
    // Keeps the record that text has passed unchecked.
    if (outcome.action === "pass") outcome.action = "mask";
    outcome.matches += matches;
  }

  /** Resets replacements, before the text is checked again. */
  forget(guards: readonly Guard[]): void {
    for (const guard of guards) {
      const outcome = this.outcomeOf(guard);
      outcome.action = "pass";
      outcome.matches = 0;
    }
  }

  /** Records that a guard rejects the texts. */
  reject(guard: Guard, { status, message, own }: GuardRejection): void {
    this.outcomeOf(guard).action = "reject";
    this.error ??= { kind: "filtered", message, status, own, reason: guard.reason };
  }

  /** Records that a guard's server is unavailable, and that its texts are rejected for that. */
  fail(guard: Guard): void {
    this.outcomeOf(guard).action = "failed";
    this.error ??= GUARD_FAILURE;
  }
}

/** Error for clients when a guard's server is unavailable. */
const GUARD_FAILURE: LlmError = {
  kind: "overloaded",
  message: "a guard of the gateway is unavailable",
  status: 503,
};

/** One guard. */
export interface Guard {
  /** Name in the configuration: `regex`, `webhook`. */
  readonly kind: string;
  /** Reason in logs of what it rejects; absent: `PromptGuard`. */
  readonly reason?: RefusalReason;
}
