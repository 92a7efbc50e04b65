import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { WebPage } from "../../chat/web-search.ts";
import { isFilledText, parseObject, providerText } from "../parse-object.ts";
import { withTier } from "../service-tiers.ts";
import { citing, readPages } from "../web-pages.ts";
import { ReasoningDetails } from "./reasoning-details.ts";
import { readCompletionsUsage } from "./usage.ts";

/** Reads a whole response of chat completions. Throws if it has no choice. */
export function readCompletionsResponse(body: JsonObject): ChatResponse {
  const [choice] = Array.isArray(body.choices) ? body.choices : [];
  if (!isJsonObject(choice) || !isJsonObject(choice.message))
    throw new Error("no choice in the response");
  const blocks = messageBlocks(choice.message);
  return {
    id: providerText(body.id),
    model: providerText(body.model) ?? "",
    blocks,
    stop: readFinish(
      choice.finish_reason,
      blocks.some(({ kind }) => kind === "tool-call"),
    ),
    stopSequence: undefined,
    usage: withTier(readCompletionsUsage(body.usage), "openai", body.service_tier),
  };
}

function messageBlocks(message: JsonObject): readonly ResponseBlock[] {
  const blocks: ResponseBlock[] = [];
  const details = new ReasoningDetails();
  details.add(message.reasoning_details);
  const own = providerText(message.reasoning_content) ?? providerText(message.reasoning);
  const reasoning = isFilledText(own) ? own : details.text;
  const signature = providerText(message.reasoning_signature) ?? details.signature;
  if (reasoning !== "" || details.signature !== undefined) {
    blocks.push({ kind: "reasoning", text: reasoning, signature });
  }
  const content = contentPieces(message.content) ?? unreadable("content");
  const media = mediaIn(message);
  if (media !== undefined) unreadable(media);
  const lastText = content.findLastIndex(({ kind }) => kind === "text");
  for (const [index, { kind, text, ...refused }] of content.entries()) {
    const cited = index === lastText ? citing(citedPages(message)) : {};
    blocks.push(
      kind === "text" ? { kind, text, ...refused, ...cited } : { kind, text, signature: undefined },
    );
  }
  const { refusal } = message;
  if (isFilledText(refusal)) blocks.push({ kind: "text", text: refusal, isRefusal: true });
  for (const [index, call] of messageCalls(message).entries()) {
    const called = isJsonObject(call.function) ? call.function : {};
    blocks.push({
      kind: "tool-call",
      id: providerText(call.id) ?? `call_${index}`,
      name: providerText(called.name) ?? unreadable("name"),
      input: unquoted(argumentsText(called.arguments) ?? unreadable("arguments")),
      signature: thoughtSignature(call),
    });
  }
  return blocks;
}

/** Returns the member of a message or a delta with images or sound, which other formats cannot express. */
export function mediaIn(message: JsonObject): string | undefined {
  const { images, audio } = message;
  if (Array.isArray(images) && images.length > 0) return "images";
  return isJsonObject(audio) ? "audio" : undefined;
}

/** Returns the pages that a message or a delta cites. Some servers do not nest them. */
export function citedPages({ annotations }: JsonObject): readonly WebPage[] {
  const list = Array.isArray(annotations) ? annotations.filter(isJsonObject) : [];
  return readPages(list.map((each) => each.url_citation ?? each));
}

/** Returns arguments that a server has encoded twice as the JSON of an object. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    const inner: unknown = JSON.parse(text);
    return typeof inner === "string" && parseObject(inner) !== undefined ? inner : text;
  } catch {
    return text;
  }
}

function unreadable(field: string): never {
  throw new Error(`the response has a "${field}" that cannot be read`);
}

/** Returns the tool calls of a message or a delta, and its function call, as servers of the first version send it. */
export function messageCalls({
  tool_calls: calls,
  function_call: only,
}: JsonObject): readonly JsonObject[] {
  if (Array.isArray(calls)) return calls.filter(isJsonObject);
  return isJsonObject(only) ? [{ index: 0, function: only }] : [];
}

/**
 * Returns the arguments of a call as JSON: servers send a string, an object, or nothing. `undefined` if they are anything
 * else, because a tool must not run without the arguments that the model gave.
 */
export function argumentsText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return "{}";
  return isJsonObject(value) ? JSON.stringify(value) : providerText(value);
}

/** A piece of content, in order. */
interface ContentPiece {
  readonly kind: "text" | "reasoning";
  readonly text: string;
  readonly isRefusal?: true;
}

/**
 * Returns the pieces of `content`: a string, or a list of text and thinking parts, as Mistral's reasoning models send it.
 * `undefined` if it has a part of another kind, so that nothing is lost.
 */
export function contentPieces(content: unknown): readonly ContentPiece[] | undefined {
  if (content === undefined || content === null || content === "") return [];
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (!Array.isArray(content)) return undefined;
  const pieces: ContentPiece[] = [];
  for (const part of content) {
    const found =
      typeof part === "string" ? [{ kind: "text", text: part } as const] : piecesOf(part);
    if (found === undefined) return undefined;
    pieces.push(...found.filter(({ text }) => text !== ""));
  }
  return pieces;
}

function piecesOf(part: unknown): readonly ContentPiece[] | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type, text, refusal, thinking } = part;
  if (typeof text === "string") return [{ kind: "text", text }];
  if (typeof refusal === "string") return [{ kind: "text", text: refusal, isRefusal: true }];
  if (type === "thinking" || type === "reasoning") {
    return contentPieces(thinking)?.map((each) => ({ kind: "reasoning", text: each.text }));
  }
  // Citations of earlier parts have no text of their own.
  return type === "reference" ? [] : undefined;
}

/** Reads the thought signature, where Gemini's server of this format expects it back. */
export function thoughtSignature({ extra_content: extra }: JsonObject): string | undefined {
  const google = isJsonObject(extra) ? extra.google : undefined;
  return isJsonObject(google) ? providerText(google.thought_signature) : undefined;
}

/** Reads `finish_reason`; unknown values are a normal end. */
export function readFinish(finish: unknown, hasCalls: boolean): StopReason {
  switch (finish) {
    case "length":
      return "length";
    case "content_filter":
      return "filtered";
    case "tool_calls":
    case "function_call":
      return "tool-calls";
    default:
      return hasCalls ? "tool-calls" : "end";
  }
}
