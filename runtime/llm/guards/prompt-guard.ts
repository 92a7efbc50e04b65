import type { JsonObject } from "../../cel/variables.ts";
import type { CodeRange } from "../../patterns/joint-search.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import type { TextFormat } from "../chat/texts.ts";
import type { WholeTexts } from "../chat/whole-texts.ts";
import type { Guard, GuardRun } from "./guard-run.ts";

/** Guards of requests and responses, in order. */
export interface PromptGuard {
  readonly request: readonly GuardStep[];
  readonly response: readonly GuardStep[];
  /** Whether streamed responses pass unguarded. */
  readonly passesStreams?: true;
}

/** Replaces the texts of an object; returns the object itself if nothing changes. */
export type TextMap = (object: JsonObject, texts: WholeTexts) => JsonObject;

/** Guards that run as one step. */
export interface GuardStep {
  readonly guards: readonly Guard[];
  /** Guards the texts of a request or a whole response; returns the object itself if nothing changes. */
  guardObject(object: JsonObject, map: TextMap, run: GuardRun): JsonObject | Promise<JsonObject>;
  /**
   * Returns a check whether a string of this JSON certainly has nothing for these guards (see `JointSearch.openJson`). Absent
   * if they must see all texts.
   */
  openJson?(json: string): ((range: CodeRange) => boolean) | undefined;
  /** Opens a guard for the events of one stream. `next` receives decided steps, in order. */
  openStage(format: TextFormat, run: GuardRun, next: (step: StreamStep) => void): StreamStage;
}

/** A step that guards one stream. */
export interface StreamStage {
  /** Takes a step of whole events. */
  push(step: StreamStep): void;
  /** Whether further input would only wait, because a server is called. */
  readonly isWaiting: boolean;
  /** Returns the last events of a failed stream, after those that may precede them. */
  fail(last: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[];
}
