import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf, type StreamStep } from "../chat/stream-step.ts";
import type { StreamTexts, TextFormat } from "../chat/texts.ts";
import type { GuardRun } from "./guard-run.ts";
import type { StreamStage } from "./prompt-guard.ts";
import { guardTexts, type TextGuard } from "./server-guard.ts";
import type { StreamedText } from "./streamed-text.ts";
import { ArrivingTexts, LeavingTexts } from "./streamed-texts.ts";

/** Settings of a stage. */
interface ServerStageSettings {
  readonly guard: TextGuard;
  readonly format: TextFormat;
  readonly run: GuardRun;
  readonly next: (step: StreamStep) => void;
}

/** A waiting event, and how much of each text must be decided before it is sent. */
interface HeldEvent {
  readonly event: Buffer;
  readonly needs: readonly (readonly [text: StreamedText, length: number])[];
}

/**
 * Guards a stream with a server, window by window. Events wait in order until their texts are decided. The end of a window
 * is repeated in the next one, so that findings across the boundary are seen whole.
 */
export class ServerStage implements StreamStage {
  readonly #guard: TextGuard;
  readonly #run: GuardRun;
  readonly #next: (step: StreamStep) => void;
  readonly #arriving = new ArrivingTexts();
  readonly #arrivals: StreamTexts;
  readonly #leaving: LeavingTexts;
  readonly #departures: StreamTexts;
  readonly #overlap: number;
  /** Events that arrived during a call of the server. */
  #coming: Buffer[] = [];
  #held: HeldEvent[] = [];
  #hasContent = false;
  #state: StreamStep["state"] = "open";
  #isOver = false;
  isWaiting = false;

  constructor({ guard, format, run, next }: ServerStageSettings) {
    this.#guard = guard;
    this.#run = run;
    this.#next = next;
    this.#overlap = Math.floor(guard.window / 4);
    this.#arrivals = format.openStream(this.#arriving);
    this.#leaving = new LeavingTexts(this.#arriving.texts);
    this.#departures = format.openStream(this.#leaving);
  }

  push({ output, hasContent, state }: StreamStep): void {
    if (this.#isOver) return;
    this.#coming.push(...output.map(bufferOf));
    this.#hasContent ||= hasContent;
    this.#state = state;
    this.#proceed();
  }

  fail(last: readonly (string | Uint8Array)[]): readonly (string | Uint8Array)[] {
    this.#isOver = true;
    this.#coming = [];
    this.#held = [];
    this.#leaving.isOver = true;
    return last.flatMap((event) => this.#departures.see(bufferOf(event)));
  }

  #proceed(): void {
    if (this.isWaiting || this.#isOver) return;
    const state = this.#state;
    // Undecided text is dropped, and another provider may take over.
    if (typeof state === "object") this.#abort(state);
    else if (this.#fillWindow()) void this.#check(false);
    else if (state === "ended" && this.#arriving.fresh > 0) void this.#check(true);
    else this.#release(state === "ended");
  }

  /** Reads events up to a full window; returns true if it is full. */
  #fillWindow(): boolean {
    for (const [index, event] of this.#coming.entries()) {
      this.#arrivals.see(event);
      this.#held.push({ event, needs: this.#arriving.takeNeeds() });
      if (this.#arriving.fresh < this.#guard.window - this.#overlap) continue;
      this.#coming = this.#coming.slice(index + 1);
      return true;
    }
    this.#coming = [];
    return false;
  }

  async #check(isLast: boolean): Promise<void> {
    const streamed = this.#arriving.takeFresh();
    const texts = streamed.map((text) => ({ role: "assistant", text: text.takePending() }));
    this.isWaiting = true;
    const given = await guardTexts(this.#guard, texts, this.#run);
    this.isWaiting = false;
    if (this.#isOver) return;
    const { error } = this.#run;
    if (error !== undefined) {
      this.#abort(error);
      return;
    }
    streamed.forEach((text, index) => {
      const { text: seen = "" } = texts[index] ?? {};
      text.decide(seen, given?.[index] ?? seen, isLast ? 0 : this.#overlap);
    });
    this.#release(false);
    this.#proceed();
  }

  #abort(error: LlmError): void {
    this.#isOver = true;
    this.#next({ output: [], hasContent: false, state: error });
  }

  /** Sends decided events, in order. */
  #release(isEnd: boolean): void {
    const count = isEnd ? -1 : this.#held.findIndex((each) => !isDecided(each));
    const ready = count === -1 ? this.#held : this.#held.slice(0, count);
    this.#held = count === -1 ? [] : this.#held.slice(count);
    const output = ready.flatMap(({ event }) => this.#departures.see(event));
    if (isEnd) {
      this.#isOver = true;
      output.push(...this.#departures.end());
    }
    const hasContent = this.#hasContent && (ready.length > 0 || isEnd);
    if (this.#held.length === 0) this.#hasContent = false;
    this.#next({ output, hasContent, state: isEnd ? "ended" : "open" });
  }
}

function isDecided({ needs }: HeldEvent): boolean {
  return needs.every(([text, length]) => text.decided >= length);
}
