import type {
  ConverseRequest,
  ConverseResponse,
  ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import { awsEvent } from "./aws-event-stream.ts";

/** A shape of the SDK as JSON: bytes are base64, and nothing is undefined. */
export type Wire<Shape> = Shape extends Uint8Array
  ? string
  : Shape extends readonly (infer Item)[]
    ? Wire<Item>[]
    : Shape extends object
      ? { [Key in keyof Shape]: Wire<Shape[Key]> }
      : Shape;

/** A request as it has to be sent: the model is in its path. */
export type ConverseBody = Wire<Omit<ConverseRequest, "modelId">>;

/** A whole response of Bedrock. */
export function converseResponse(
  content: NonNullable<NonNullable<NonNullable<ConverseResponse["output"]>["message"]>["content"]>,
  stopReason: ConverseResponse["stopReason"],
): string {
  const response: Wire<ConverseResponse> = {
    output: { message: { role: "assistant", content: content as never } },
    stopReason,
    usage: {
      inputTokens: 3,
      outputTokens: 7,
      totalTokens: 27,
      cacheReadInputTokens: 12,
      cacheWriteInputTokens: 5,
    },
    metrics: { latencyMs: 1 },
  };
  return JSON.stringify(response);
}

/** The events of a stream, as the SDK names them, in binary form. */
export function converseStream(events: readonly Wire<ConverseStreamOutput>[]): Buffer {
  return Buffer.concat(
    events.flatMap((event) =>
      Object.entries(event).flatMap(([name, payload]) =>
        payload === undefined ? [] : [awsEvent(name, payload)],
      ),
    ),
  );
}
