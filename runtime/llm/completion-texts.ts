import type { JsonObject } from "../cel/variables.ts";
import { receivedObjects } from "../http/body/received-objects.ts";
import { isJsonObject } from "../json/json-object.ts";
import { joinedTexts } from "./chat/request-object.ts";

/**
 * Returns the texts of a completion, one for each choice, from a response to a client: Chat Completions, Responses or
 * Messages, whole or a stream. `undefined` if the response has no texts.
 */
export function completionTexts(body: Uint8Array): readonly string[] | undefined {
  const { whole, parts } = receivedObjects(body);
  const texts = whole === undefined ? streamedTexts(parts) : wholeTexts(whole);
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
function streamedTexts(events: readonly JsonObject[]): readonly string[] {
  const texts: string[] = [];
  const add = (index: unknown, piece: unknown): void => {
    if (typeof piece !== "string") return;
    const at = typeof index === "number" && index >= 0 && index < MAX_CHOICES ? index : 0;
    texts[at] = (texts[at] ?? "") + piece;
  };
  for (const event of events) {
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
