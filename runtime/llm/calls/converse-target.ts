import { type AwsEvent, AwsEventReader } from "../../http/body/aws-event-stream.ts";
import type { ResponseFacts } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import { isContent } from "../chat/stream-event.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import { corrupt, cutOff, eventTooLong } from "../formats/broken-stream.ts";
import { converseErrorEvent } from "../formats/converse/errors.ts";
import { converseNative } from "../formats/converse/native.ts";
import { ConverseEvents } from "../formats/converse/stream-reader.ts";
import { MAX_EVENT } from "./limits.ts";
import { nativeTarget } from "./native-target.ts";
import type { LlmTarget, StreamRelay, TargetSettings } from "./target.ts";

/** Creates a target for Bedrock, for clients of Bedrock: bytes pass through, and only guards have streams converted. */
export function converseTarget(settings: TargetSettings): LlmTarget {
  return {
    ...nativeTarget({ ...settings, format: converseNative }),
    openStream: () => new ConverseRelay(),
  };
}

/** Converts messages of the binary stream to events as text, which the client gets as messages again. */
class ConverseRelay implements StreamRelay {
  readonly ping = "";
  readonly #frames = new AwsEventReader(MAX_EVENT);
  readonly #events = new ConverseEvents();
  facts: ResponseFacts = {};
  pieces = 0;
  #state: StreamStep["state"] = "open";

  push(chunk: Buffer): StreamStep {
    const output: Buffer[] = [];
    let hasContent = false;
    for (const frame of this.#frames.push(chunk)) {
      if (this.#state !== "open") break;
      hasContent = this.#note(frame) || hasContent;
      if (typeof this.#state !== "object") output.push(eventOf(frame));
    }
    const { fault } = this.#frames;
    if (fault !== undefined && this.#state === "open") {
      this.#state = (fault === "too-long" ? eventTooLong : corrupt).error;
    }
    return { output, areEvents: true, hasContent, state: this.#state };
  }

  close(): StreamStep {
    if (this.#state === "open") {
      const [last] = this.#events.end();
      this.#state = last?.kind === "end" ? "ended" : cutOff.error;
    }
    return { output: [], hasContent: this.#state === "ended", state: this.#state };
  }

  fail(error: LlmError): string {
    return converseErrorEvent(error);
  }

  /** Records the facts of a message. Returns true if it has content. */
  #note(frame: AwsEvent): boolean {
    let hasContent = false;
    for (const event of this.#events.read(frame)) {
      if (event.kind === "usage") this.facts = { ...this.facts, usage: event.usage };
      else if (event.kind === "stop") this.facts = { ...this.facts, finish: event.reason };
      else if (event.kind === "end") this.#state = "ended";
      else if (event.kind === "error") this.#state = event.error;
      if (isContent(event)) {
        hasContent = true;
        this.pieces += 1;
      }
    }
    return hasContent;
  }
}

function eventOf({ headers, payload }: AwsEvent): Buffer {
  const type = headers.get(":event-type") ?? "unknown";
  const json = payload.toString("utf8").replaceAll(/\s*\n\s*/g, " ");
  return Buffer.from(`data: {${JSON.stringify(type)}:${json}}\n\n`);
}
