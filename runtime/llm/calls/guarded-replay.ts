import type { StreamFraming } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";
import { GuardedStream, guardWhole, type ResponseGuard } from "./response-guard.ts";

/** A response that was recorded. */
interface Recorded {
  readonly body: Buffer;
  readonly isStream: boolean;
}

/**
 * Passes a recorded response through guards again. Returns its body; the error of a guard that rejects it; or `undefined` if guards
 * cannot read it. `framing`: form of the client's streams, absent for server-sent events.
 */
export async function replayGuarded(
  { body, isStream }: Recorded,
  guard: ResponseGuard,
  framing: StreamFraming | undefined,
): Promise<Buffer | LlmError | undefined> {
  if (isStream) return framing === undefined ? replayStream(body, guard) : undefined;
  const text = body.toString("utf8");
  const guarded = await guardWhole(text, guard);
  if (typeof guarded !== "string") return guarded;
  return guarded === text ? body : Buffer.from(guarded);
}

function replayStream(body: Buffer, guard: ResponseGuard): Promise<Buffer | LlmError> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const guarded = new GuardedStream(guard, ({ output, state }) => {
      pieces.push(...output.map((piece) => Buffer.from(bufferOf(piece))));
      if (state === "ended") resolve(Buffer.concat(pieces));
      else if (state !== "open") resolve(state);
    });
    guarded.push({ output: [body], hasContent: true, state: "open" });
    guarded.push({ output: [], hasContent: false, state: "ended" });
  });
}
