import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { mapList } from "../../chat/map-values.ts";
import {
  MODEL_PLACE,
  mapTexts,
  type PieceGuard,
  type StreamTexts,
  type TextFormat,
  type TextGuards,
} from "../../chat/texts.ts";
import { CarriedTexts } from "../carried-texts.ts";
import { BARE_COMMENT, readEvent } from "../read-event.ts";

/** Texts of transcriptions: the prompt of a request, and what was said. */
export const transcriptionsTexts: TextFormat = {
  request: ["prompt"],
  plain: new Set([
    ...["model", "language", "response_format", "temperature", "stream", "chunking_strategy"],
    ...["include[]", "include", "timestamp_granularities[]", "timestamp_granularities"],
    ...["known_speaker_references[]", "known_speaker_references", "user"],
  ]),
  response: ["text", "segments", "words"],
  plainResponse: new Set(["task", "language", "duration", "usage", "logprobs"]),
  withoutCopies,
  openStream: (texts) => new TranscriptTexts(texts),
};

/** Removes words, tokens and log probabilities, which repeat what is masked in pieces. */
function withoutCopies(body: JsonObject): JsonObject {
  const { segments } = body;
  return {
    ...body,
    ...(body.words !== undefined && { words: [] }),
    ...(body.logprobs !== undefined && { logprobs: [] }),
    ...(Array.isArray(segments) && { segments: mapList(segments, withoutTokens) }),
  };
}

function withoutTokens(segment: unknown): unknown {
  if (!isJsonObject(segment) || segment.tokens === undefined) return segment;
  return { ...segment, tokens: [] };
}

class TranscriptTexts implements StreamTexts {
  readonly #texts: TextGuards;
  #guard: PieceGuard;
  /** Last event with a piece of the text; `undefined` if the guard holds nothing back. */
  #last: JsonObject | undefined;

  constructor(texts: TextGuards) {
    this.#texts = texts;
    this.#guard = texts.open();
  }

  see(given: Buffer): readonly (string | Buffer)[] {
    const read = readEvent(given, given.toString("utf8"), this.#texts);
    if (read === undefined) return [BARE_COMMENT];
    const { bytes, data, object } = read;
    // Events that cannot be parsed cannot be guarded.
    if (object === undefined) return data === "[DONE]" ? [...this.end(), bytes] : [];
    const event = withoutLogprobs(object);
    if (event.type === "transcript.text.delta" && typeof event.delta === "string") {
      const text = this.#guard.push(event.delta);
      this.#last = event;
      if (text === event.delta && event === object) return [bytes];
      return text === "" ? [] : [written({ ...event, delta: text })];
    }
    const isLast = event.type === "transcript.text.done";
    const before = isLast ? this.end() : [];
    const texts = isLast ? this.#texts : new CarriedTexts(this.#texts, String(event.type));
    const mapped = mapTexts(event, texts, MODEL_PLACE);
    return [...before, mapped === object || !isJsonObject(mapped) ? bytes : written(mapped)];
  }

  end(): readonly (string | Buffer)[] {
    const rest = this.#guard.end();
    const last = this.#last;
    this.#guard = this.#texts.open();
    this.#last = undefined;
    return rest === "" || last === undefined ? [] : [written({ ...last, delta: rest })];
  }
}

/** Removes the log probabilities of an event; returns the event itself if it has none. */
function withoutLogprobs(event: JsonObject): JsonObject {
  const { logprobs, ...others } = event;
  return logprobs === undefined ? event : others;
}

function written(event: JsonObject): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
