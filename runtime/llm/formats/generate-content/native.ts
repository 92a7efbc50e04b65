import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NativeFormat, ResponseFacts, StreamWatcher } from "../../chat/formats.ts";
import { errorOfEvent } from "../../chat/llm-error.ts";
import { eventData } from "../event-bytes.ts";
import { parseObject } from "../parse-object.ts";
import { generateContentErrors, readGenerateContentError } from "./errors.ts";
import { candidateParts, firstCandidate } from "./response-reader.ts";
import { readGenerateContentUsage } from "./usage.ts";

/** Google's generateContent on both sides. */
export const generateContentNative: NativeFormat = {
  name: "generateContent",
  ...generateContentErrors,
  reads: {
    responseId: true,
    modelVersion: true,
    usageMetadata: true,
    candidates: [{ finishReason: true }],
  },
  readResponse: readFacts,
  watchStream: () => new GenerateContentWatcher(),
  readError: readGenerateContentError,
  // They are in the path.
  adapt: (body) => {
    body.delete("model");
    body.delete("stream");
  },
};

function readFacts(response: JsonObject): ResponseFacts {
  const { responseId: id, modelVersion: model } = response;
  const finish = firstCandidate(response)?.finishReason;
  const usage = readGenerateContentUsage(response.usageMetadata);
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof model === "string" && { model }),
    ...(typeof finish === "string" && { finish }),
    ...(usage !== undefined && { usage }),
  };
}

class GenerateContentWatcher implements StreamWatcher {
  facts: ResponseFacts = {};
  #isBlocked = false;

  get hasEnded(): boolean {
    return this.#isBlocked || this.facts.finish !== undefined;
  }

  see(event: Buffer): ReturnType<StreamWatcher["see"]> {
    const data = eventData(event);
    const response = data === undefined ? undefined : parseObject(data);
    if (response === undefined) return "other";
    if (isJsonObject(response.error))
      return errorOfEvent(readGenerateContentError(502, data ?? ""));
    this.facts = { ...this.facts, ...readFacts(response) };
    this.#isBlocked ||= isJsonObject(response.promptFeedback);
    const candidate = firstCandidate(response);
    return candidate !== undefined && candidateParts(candidate).length > 0 ? "content" : "other";
  }
}
