import type { Exchange } from "../../http/exchange.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { Guard } from "./guard.ts";

/** What clients get for what a guard rejects. */
export interface GuardRejection {
  readonly status: number;
  /** For the client, in its own format. */
  readonly message: string;
  /** A body in the place of the format's; `headers`: a flat list. */
  readonly own?: { readonly body: string; readonly headers: readonly string[] };
}

/** What a guard made of texts; `passed`: it could not be asked, and lets pass then; `failed`: the same, and it does not. */
export type GuardAction = "pass" | "mask" | "reject" | "passed" | "failed";

/** What one guard made of the texts of a request, or of a response. */
export interface GuardOutcome {
  action: GuardAction;
  matches: number;
  /** How long it took; undefined: its time was not taken, piece by piece of a stream. */
  milliseconds: number | undefined;
}

/** The way of one request, or of one response, through the guards. */
export class GuardRun {
  readonly phase: "request" | "response";
  /** Whose texts are guarded; undefined: nobody's, they are only tried. */
  readonly exchange: Exchange | undefined;
  /** Of those that found something, and of those that were asked. */
  readonly outcomes = new Map<Guard, GuardOutcome>();
  /** What clients get when a guard rejected: nothing of the texts goes on. */
  error: LlmError | undefined;

  constructor(phase: "request" | "response", exchange?: Exchange) {
    this.phase = phase;
    this.exchange = exchange;
  }

  /** What a guard made of it so far. */
  outcomeOf(guard: Guard): GuardOutcome {
    const known = this.outcomes.get(guard);
    if (known !== undefined) return known;
    const outcome: GuardOutcome = { action: "pass", matches: 0, milliseconds: undefined };
    this.outcomes.set(guard, outcome);
    return outcome;
  }

  /** A guard took its time. */
  spend(guard: Guard, milliseconds: number): void {
    const outcome = this.outcomeOf(guard);
    outcome.milliseconds = (outcome.milliseconds ?? 0) + milliseconds;
  }

  /** A guard has replaced something. */
  match(guard: Guard, matches: number): void {
    const outcome = this.outcomeOf(guard);
    // What passed unseen is not forgotten.
    if (outcome.action === "pass") outcome.action = "mask";
    outcome.matches += matches;
  }

  /** What guards have replaced is looked at anew. */
  forget(guards: readonly Guard[]): void {
    for (const guard of guards) {
      const outcome = this.outcomeOf(guard);
      outcome.action = "pass";
      outcome.matches = 0;
    }
  }

  /** A guard lets nothing pass. */
  reject(guard: Guard, { status, message, own }: GuardRejection): void {
    this.outcomeOf(guard).action = "reject";
    this.error ??= { kind: "filtered", message, status, own };
  }

  /** A guard could not be asked, and nothing passes without it. */
  fail(guard: Guard): void {
    this.outcomeOf(guard).action = "failed";
    this.error ??= guardFailure;
  }
}

/** What clients learn of a guard that could not be asked. */
const guardFailure: LlmError = {
  kind: "overloaded",
  message: "a guard of the gateway could not be asked",
  status: 503,
};
