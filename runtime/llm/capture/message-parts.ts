import { parsedOrText } from "../../json/parsed-or-text.ts";
import type { ContentBlock, MediaSource } from "../chat/content.ts";
import type { HostedBlock } from "../chat/hosted-tools.ts";
import type { ChatRequest, Turn } from "../chat/request.ts";
import type { ResponseBlock, StopReason } from "../chat/response.ts";

/**
 * A message in the form of OpenTelemetry's conventions for generative AI (JSON schemas of `gen_ai.input.messages` and
 * `gen_ai.output.messages`).
 */
export interface CapturedMessage {
  readonly role: "system" | "user" | "assistant" | "tool" | (string & {});
  readonly parts: readonly CapturedPart[];
  /** Why the model stopped; absent in messages of a request. */
  readonly finish_reason?: FinishReason;
}

/** A part of a message. Media are described; their bytes are not captured. */
export type CapturedPart = { readonly type: string; readonly [field: string]: unknown };

type FinishReason = "stop" | "length" | "content_filter" | "tool_call" | "error";

/** Returns the messages of a request, without its system prompt. */
export function inputMessages({ turns }: Pick<ChatRequest, "turns">): readonly CapturedMessage[] {
  return turns.flatMap(turnMessages);
}

/** Returns the parts of the system prompt; `undefined` if there is none. */
export function systemParts({
  system,
}: Pick<ChatRequest, "system">): readonly CapturedPart[] | undefined {
  return system.length === 0 ? undefined : system.flatMap(partsOf);
}

/** Returns the message of a completion. `stop` is `undefined` if the completion is incomplete. */
export function outputMessage(
  blocks: readonly ResponseBlock[],
  stop: StopReason | undefined,
): CapturedMessage {
  const parts = blocks.flatMap(partsOf);
  return { role: "assistant", parts, finish_reason: stop === undefined ? "error" : FINISH[stop] };
}

const FINISH: Readonly<Record<StopReason, FinishReason>> = {
  end: "stop",
  "stop-sequence": "stop",
  pause: "stop",
  length: "length",
  "tool-calls": "tool_call",
  filtered: "content_filter",
};

/** Divides a turn of the user: results of tools are messages of the role `tool`. */
function turnMessages({ role, blocks }: Turn): readonly CapturedMessage[] {
  const results = blocks.filter(({ kind }) => kind === "tool-result").flatMap(partsOf);
  const others = blocks.filter(({ kind }) => kind !== "tool-result").flatMap(partsOf);
  return [
    ...(results.length === 0 ? [] : [{ role: "tool", parts: results }]),
    ...(others.length === 0 ? [] : [{ role, parts: others }]),
  ];
}

function partsOf(block: ContentBlock | ResponseBlock): readonly CapturedPart[] {
  switch (block.kind) {
    case "text":
      return [{ type: "text", content: block.text }];
    case "reasoning":
      return block.text === "" ? [] : [{ type: "reasoning", content: block.text }];
    case "redacted-reasoning":
      return [];
    case "tool-call":
      return [
        {
          type: "tool_call",
          id: block.id,
          name: block.name,
          arguments: parsedOrText(block.input),
        },
      ];
    case "tool-result":
      return [
        {
          type: "tool_call_response",
          id: block.id,
          response: resultOf(block.content.flatMap(partsOf)),
        },
      ];
    case "image":
      return [mediaPart("image", block.source)];
    case "document":
      return block.source.kind === "text"
        ? [{ type: "text", content: block.source.text }]
        : [mediaPart("document", block.source)];
    case "audio":
      return [blobPart("audio", `audio/${block.format}`, block.data)];
    case "search":
      return [{ type: "web_search", id: block.id, query: block.query, pages: block.pages }];
    case "hosted":
      return [hostedPart(block)];
  }
}

function hostedPart(block: HostedBlock): CapturedPart {
  const { id } = block;
  switch (block.tool) {
    case "code":
      return { type: "code_execution", id, code: block.code, output: block.output };
    case "fetch":
      return { type: "web_fetch", id, url: block.url };
    case "mcp":
      return {
        ...{ type: "mcp_call", id, server: block.server, name: block.name },
        ...{ arguments: parsedOrText(block.input), response: block.output },
      };
  }
}

/** Returns a text alone as a string, as most tools return it. */
function resultOf(parts: readonly CapturedPart[]): unknown {
  const [first, ...others] = parts;
  return others.length === 0 && first?.type === "text" ? first.content : parts;
}

function mediaPart(modality: "image" | "document", source: MediaSource): CapturedPart {
  switch (source.kind) {
    case "base64":
      return blobPart(modality, source.mediaType, source.data);
    case "url":
      return { type: "uri", modality, uri: source.url };
    case "file":
      return { type: "file", modality, file_id: source.id };
  }
}

/** `data`: base64, of which only the size is captured. */
function blobPart(modality: string, type: string, data: string): CapturedPart {
  return {
    type: "blob",
    modality,
    mime_type: type,
    content: "",
    size: Buffer.byteLength(data, "base64"),
  };
}
