import type { EmbeddingsFormat } from "../chat/embeddings.ts";
import { translatedError } from "../chat/llm-error.ts";
import { embeddingsNative } from "../formats/embeddings/native.ts";
import { readEmbeddingsRequest } from "../formats/embeddings/request-reader.ts";
import { writeEmbeddingsResponse } from "../formats/embeddings/response-writer.ts";
import { parseObject } from "../formats/parse-object.ts";
import { editedObject } from "./chat-call.ts";
import { nativeTarget } from "./native-target.ts";
import type { LlmTarget, TargetSettings } from "./target.ts";

/** Settings of an embeddings provider with a format of its own. */
export interface EmbeddingsSettings extends TargetSettings {
  readonly format: EmbeddingsFormat;
}

/** Creates a target for embeddings in another format than OpenAI's. */
export function embeddingsTarget({ format, ...settings }: EmbeddingsSettings): LlmTarget {
  return {
    // The response is never streamed.
    ...nativeTarget({ ...settings, format: embeddingsNative }),
    isNative: false,
    requestBody: (call, body) =>
      format.writeRequest(readEmbeddingsRequest(editedObject(call, body))),
    readError: (...response) => translatedError(format.readError(...response)),
    readWhole: ({ text, headers }, { body: requested }, model) => {
      const body = parseObject(text);
      if (body === undefined) throw new Error("the response is not a JSON object");
      const response = format.readResponse(body, headers);
      const { inputTokens: input } = response;
      const none = { cacheRead: 0, cacheWrite: 0, output: 0, reasoning: undefined };
      return {
        text: writeEmbeddingsResponse(response, model, requested),
        facts: { model, usage: input === undefined ? undefined : { input, ...none } },
      };
    },
  };
}
