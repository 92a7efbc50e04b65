import type { JsonObject } from "../../cel/variables.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import type { TextFormat } from "../chat/texts.ts";
import type { Guard } from "./guard.ts";
import type { GuardRun } from "./guard-run.ts";

/** What guards the texts of requests and responses, in this order. */
export interface PromptGuard {
  readonly request: readonly GuardStep[];
  readonly response: readonly GuardStep[];
  /** Responses that are streams pass unguarded. */
  readonly passesStreams?: true;
}

/** Guards that are passed together. */
export interface GuardStep {
  readonly guards: readonly Guard[];
  /** The members of a request or a whole response with their texts guarded; the object itself when no text changes. */
  guardMembers(
    body: JsonObject,
    keys: readonly string[],
    run: GuardRun,
  ): JsonObject | Promise<JsonObject>;
  /** Guards the events of one stream; `next` gets what is decided, in order. */
  openStage(format: TextFormat, run: GuardRun, next: (step: StreamStep) => void): StreamStage;
}

/** Guards on the way of one stream. */
export interface StreamStage {
  /** Takes what came: whole events. */
  push(step: StreamStep): void;
  /** What comes now would only wait: a server is asked. */
  readonly isWaiting: boolean;
  /** The last events of a stream that failed, with what may go out before them. */
  fail(last: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[];
}
