import { SseFrames } from "../../http/body/sse.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { StreamTexts } from "../chat/texts.ts";
import type { GuardRun } from "../guards/guard-run.ts";
import { rejectionError } from "../guards/prompt-guard.ts";
import type { ResponseGuard } from "./guard-response.ts";
import { maxEvent } from "./limits.ts";
import type { StreamRelay, StreamStep } from "./target.ts";

/** A stream whose texts pass guards before the client gets them. */
export class GuardedRelay implements StreamRelay {
  readonly #relay: StreamRelay;
  readonly #texts: StreamTexts;
  readonly #run: GuardRun;
  readonly #frames = new SseFrames(maxEvent);

  constructor(relay: StreamRelay, { format, run }: ResponseGuard) {
    this.#relay = relay;
    this.#run = run;
    this.#texts = format.openStream(run);
  }

  get facts(): ResponseFacts {
    return this.#relay.facts;
  }

  get ping(): string {
    return this.#relay.ping;
  }

  push(chunk: Buffer): StreamStep {
    return this.#pass(this.#relay.push(chunk));
  }

  close(): StreamStep {
    return this.#pass(this.#relay.close());
  }

  fail(error: LlmError): string {
    const last = this.#relay.fail(error);
    // What the gateway itself says is no text of the model.
    if (this.#run.rejection !== undefined) return last;
    return [...this.#texts.end(), ...this.#guarded([last])].join("");
  }

  #pass({ output, hasContent, state }: StreamStep): StreamStep {
    const guarded = this.#guarded(output);
    const { rejection } = this.#run;
    // What came before the match stays where it is: clients get nothing after it but the error.
    if (rejection !== undefined) {
      return { output: [], hasContent: false, state: rejectionError(rejection) };
    }
    // A stream without an end mark has texts that still wait.
    if (state === "ended") guarded.push(...this.#texts.end());
    const isContent = hasContent && (guarded.length > 0 || state === "ended");
    return { output: guarded, hasContent: isContent, state };
  }

  #guarded(output: readonly (string | Uint8Array)[]): (string | Uint8Array)[] {
    return output.flatMap((piece) => {
      // An event is never longer than what the relay takes.
      const events = this.#frames.push(Buffer.from(piece)) ?? [];
      return events.flatMap((event) => this.#texts.see(event));
    });
  }
}
