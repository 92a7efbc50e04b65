import type { BodyFormat } from "../chat/body-format.ts";
import type { NativeFormat } from "../chat/formats.ts";
import { translatedError } from "../chat/llm-error.ts";
import { RequestObject } from "../chat/request-object.ts";
import { parseObject } from "../formats/parse-object.ts";
import { editedObject } from "./chat-call.ts";
import { nativeTarget } from "./native-target.ts";
import type { LlmTarget, TargetSettings } from "./target.ts";

/** Settings of a provider with a format of its own for one API. */
export interface ConvertedSettings extends TargetSettings {
  /** Format of clients. */
  readonly client: NativeFormat;
  readonly format: BodyFormat;
}

/** Creates a target for an API whose requests and responses are converted. Responses are never streamed. */
export function convertedTarget({ client, format, ...settings }: ConvertedSettings): LlmTarget {
  return {
    ...nativeTarget({ ...settings, format: client }),
    isNative: false,
    requestBody: (call, body) => format.writeRequest(new RequestObject(editedObject(call, body))),
    readError: (...response) => translatedError(format.readError(...response)),
    readWhole: ({ text }, { body: requested }, model) => {
      const body = parseObject(text);
      if (body === undefined) throw new Error("the response is not a JSON object");
      const response = format.readResponse(body, requested);
      const facts = client.readResponse(response);
      const units = { ...client.unitsOf?.(requested), ...facts.units };
      return { text: JSON.stringify(response), facts: { ...facts, model, units } };
    },
  };
}
