import type { JsonObject } from "../../../cel/variables.ts";
import { receivedObjects } from "../../../http/body/received-objects.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { MessageFormat } from "../../chat/message-format.ts";
import { type Completion, streamedCompletion } from "../../chat/streamed-completion.ts";
import { readCompletionsRequest } from "./request-reader.ts";
import { readCompletionsResponse } from "./response-reader.ts";
import { CompletionsEventReader } from "./stream-reader.ts";

/** Captured messages of OpenAI's chat completions, whose responses may have several choices (`n`). */
export const completionsCapture: MessageFormat = {
  readRequest: readCompletionsRequest,
  readResponse: (body) =>
    choicesOf(body).map((choice) => readCompletionsResponse({ ...body, choices: [choice] })),
  readStream: (bytes) => {
    const chunks = receivedObjects(bytes).parts;
    const indexes = new Set(chunks.flatMap(choicesOf).map(indexOf));
    return [...indexes].map((index) => choiceOf(chunks, index));
  },
};

/** Joins the pieces of one choice. */
function choiceOf(chunks: readonly JsonObject[], index: number): Completion {
  const reader = new CompletionsEventReader();
  const events = chunks.flatMap((chunk) => {
    const choices = choicesOf(chunk).filter((choice) => indexOf(choice) === index);
    return choices.length === 0 ? [] : reader.read(JSON.stringify({ ...chunk, choices }));
  });
  return streamedCompletion([...events, ...reader.close()]);
}

function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isJsonObject) : [];
}

function indexOf({ index }: JsonObject): number {
  return typeof index === "number" ? index : 0;
}
