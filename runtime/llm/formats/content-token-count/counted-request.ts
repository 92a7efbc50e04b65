import type { JsonBody } from "../../../json/json-body.ts";
import { snakeCase } from "../../chat/member-words.ts";
import { parseObject } from "../parse-object.ts";

/** Member in which the Gemini API takes a whole request; Vertex AI takes its members themselves. */
const WHOLE = "generateContentRequest";

/** Its second spelling. */
const SNAKE_WHOLE = "generate_content_request";

/** Members of a whole request besides `contents`. */
const OTHERS = ["systemInstruction", "tools", "toolConfig", "generationConfig"].flatMap((name) => [
  ...new Set([name, snakeCase(name)]),
]);

/** Changes a request to count tokens into that of the Gemini API. Its path names the model. */
export function wrapCountedRequest(body: JsonBody): void {
  const model = body.get("model") ?? '""';
  renameWhole(body);
  const others = OTHERS.filter((key) => body.has(key));
  if (others.length > 0 && !body.has(WHOLE)) {
    const members = ["contents", ...others].flatMap((key) => {
      const value = body.get(key);
      body.delete(key);
      return value === undefined ? [] : [`${JSON.stringify(key)}:${value}`];
    });
    body.set(WHOLE, `{${members.join(",")}}`);
  }
  const whole = parseObject(body.get(WHOLE) ?? "");
  // The model in the request must be the one of the path, which may be another one than the client's.
  if (whole !== undefined) {
    const name = `models/${JSON.parse(model)}`;
    body.set(WHOLE, JSON.stringify({ ...whole, model: name }));
  }
}

/** Deletes what is in the path, and gives the whole request its first spelling. */
function renameWhole(body: JsonBody): void {
  body.delete("model");
  body.delete("stream");
  const whole = body.get(SNAKE_WHOLE);
  if (whole === undefined) return;
  body.delete(SNAKE_WHOLE);
  body.setDefault(WHOLE, whole);
}

/** Changes a request to count tokens into that of Vertex AI. */
export function unwrapCountedRequest(body: JsonBody): void {
  renameWhole(body);
  const whole = parseObject(body.get(WHOLE) ?? "");
  if (whole === undefined) return;
  body.delete(WHOLE);
  const { model: _, ...members } = whole;
  for (const [key, value] of Object.entries(members)) body.setDefault(key, JSON.stringify(value));
}
