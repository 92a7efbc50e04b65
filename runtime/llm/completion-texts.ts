import type { JsonObject } from "../cel/variables.ts";
import { SseFrames } from "../http/body/sse.ts";
import { isJsonObject, joinedTexts } from "./chat/request-object.ts";
import { parseObject } from "./formats/parse-object.ts";

/**
 * Returns the texts of a completion, one for each choice, from a response to a client: Chat Completions, Responses or
 * Messages, whole or a stream. `undefined` if the response has no texts.
 */
export function completionTexts(body: Uint8Array): readonly string[] | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const whole = parseObject(bytes.toString());
  const texts = whole === undefined ? streamedTexts(bytes) : wholeTexts(whole);
  return texts.length === 0 ? undefined : texts;
}

function wholeTexts({ choices, content, output }: JsonObject): readonly string[] {
  if (Array.isArray(choices)) {
    return choices.filter(isJsonObject).map(({ message, text }) => {
      return isJsonObject(message) ? joinedTexts(message.content) : joinedTexts(text);
    });
  }
  const parts = Array.isArray(output)
    ? output.flatMap((item) => (isJsonObject(item) && item.type === "message" ? item.content : []))
    : content;
  const text = joinedTexts(parts);
  return text === "" ? [] : [text];
}

/** Joins the deltas of a stream by choice. */
function streamedTexts(bytes: Buffer): readonly string[] {
  const texts: string[] = [];
  const add = (index: unknown, piece: unknown): void => {
    if (typeof piece !== "string") return;
    const at = typeof index === "number" && index >= 0 && index < MAX_CHOICES ? index : 0;
    texts[at] = (texts[at] ?? "") + piece;
  };
  const frames = new SseFrames(bytes.length + 1);
  for (const frame of frames.push(bytes) ?? []) {
    const event = parseObject(dataOf(frame.toString()));
    if (event === undefined) continue;
    if (Array.isArray(event.choices)) {
      for (const choice of event.choices.filter(isJsonObject)) {
        add(choice.index, isJsonObject(choice.delta) ? choice.delta.content : choice.text);
      }
    } else if (event.type === "response.output_text.delta") add(0, event.delta);
    else if (event.type === "content_block_delta" && isJsonObject(event.delta)) {
      add(0, event.delta.text);
    }
  }
  return Array.from(texts, (text) => text ?? "");
}

/** Maximum number of choices of a completion. */
const MAX_CHOICES = 128;

function dataOf(frame: string): string {
  return frame
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length))
    .join("\n");
}
