import type {
  AudioBlock,
  CacheMark,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  MediaSource,
  TextBlock,
  ToolResultBlock,
} from "../../chat/content.ts";
import type { Feature, NoteFeature } from "../../chat/features.ts";
import { refuseField } from "../../chat/request-fields.ts";
import { type RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import { readReplay } from "../responses/replay.ts";
import { MEDIA_TYPES } from "./media-types.ts";

/** Reads the content of messages of Converse. */
export class ConverseContent {
  readonly #note: NoteFeature;

  constructor(note: NoteFeature) {
    this.#note = note;
  }

  /** Reads a list of blocks. A cache point marks the block before it. Throws LlmRefusal. */
  blocks(given: readonly RequestObject[]): readonly ContentBlock[] {
    const blocks: ContentBlock[] = [];
    for (const block of given) {
      const cache = readCachePoint(block, this.#note);
      const last = blocks.at(-1);
      if (cache === undefined) blocks.push(...this.#block(block));
      else if (last !== undefined && isCacheable(last))
        blocks[blocks.length - 1] = { ...last, cache };
    }
    return blocks;
  }

  #block(block: RequestObject): readonly ContentBlock[] {
    const text = block.optionalText("text");
    if (text !== undefined) return [{ kind: "text", text }];
    const [kind = ""] = block.keys;
    const value = block.object(kind);
    if (value === undefined) throw wrongField(block.path, "a block with one member");
    switch (kind) {
      case "image":
        return [this.#image(value)];
      case "document":
        return [this.#document(value)];
      case "audio":
        return [this.#audio(value)];
      case "toolUse":
        // Calls of tools that Bedrock runs itself.
        refuseField(value, "type");
        return [
          {
            kind: "tool-call",
            id: value.text("toolUseId"),
            name: value.text("name"),
            input: JSON.stringify(value.any("input") ?? {}),
          },
        ];
      case "toolResult":
        return [this.#result(value)];
      case "reasoningContent":
        return [this.#reasoning(value)];
      case "citationsContent":
        return value.objects("content").map((each) => ({ kind: "text", text: each.text("text") }));
      default:
        throw unsupportedField(block.at(kind), `a block of type "${kind}"`);
    }
  }

  #image(image: RequestObject): ImageBlock {
    return { kind: "image", source: this.#media(image, "image") };
  }

  #document(document: RequestObject): DocumentBlock {
    refuseField(document, "context");
    refuseField(document, "citations", [{ enabled: false }]);
    const name = document.optionalText("name");
    const source = document.object("source");
    const parts = source?.objects("content").map((part) => part.text("text")) ?? [];
    const text = source?.optionalText("text") ?? (parts.length > 0 ? parts.join("\n") : undefined);
    if (text === undefined) {
      return { kind: "document", source: this.#media(document, "document"), name };
    }
    this.#note("document", document.path);
    return { kind: "document", source: { kind: "text", text }, name };
  }

  #audio(audio: RequestObject): AudioBlock {
    this.#note("audio", audio.path);
    const data = audio.object("source")?.text("bytes") ?? "";
    return { kind: "audio", data, format: audio.text("format") };
  }

  #media(file: RequestObject, feature: Extract<Feature, "image" | "document">): MediaSource {
    const source = file.object("source");
    if (source === undefined) throw wrongField(file.at("source"), "an object");
    const stored = source.object("s3Location");
    if (stored !== undefined) {
      this.#note("fileReference", stored.at("uri"));
      return { kind: "file", id: stored.text("uri") };
    }
    this.#note(feature, source.path);
    const format = file.text("format");
    const mediaType = MEDIA_TYPES[format];
    if (mediaType === undefined)
      throw unsupportedField(file.at("format"), `the format "${format}"`);
    return { kind: "base64", mediaType, data: source.text("bytes") };
  }

  #result(result: RequestObject): ToolResultBlock {
    refuseField(result, "type");
    const isError = result.choice("status", ["success", "error"]) === "error";
    if (isError) this.#note("toolError", result.at("status"));
    const content = result.objects("content").map((block) => this.#resultBlock(block));
    return { kind: "tool-result", id: result.text("toolUseId"), content, isError };
  }

  #resultBlock(block: RequestObject): TextBlock | ImageBlock | DocumentBlock {
    const json = block.any("json");
    if (json !== undefined) return { kind: "text", text: JSON.stringify(json) };
    const text = block.optionalText("text");
    if (text !== undefined) return { kind: "text", text };
    const [image, document] = [block.object("image"), block.object("document")];
    if (image === undefined && document === undefined) {
      const [kind = ""] = block.keys;
      throw unsupportedField(block.path, `a result of type "${kind}"`);
    }
    this.#note("toolResultMedia", block.path);
    return image === undefined ? this.#document(document ?? block) : this.#image(image);
  }

  #reasoning(reasoning: RequestObject): ContentBlock {
    this.#note("reasoningReplay", reasoning.path);
    const data = reasoning.optionalText("redactedContent");
    if (data !== undefined) {
      const replay = readReplay(Buffer.from(data, "base64").toString("latin1"));
      return { kind: "redacted-reasoning", data: replay?.value ?? data };
    }
    const said = reasoning.object("reasoningText");
    const signature = said?.optionalText("signature");
    return { kind: "reasoning", text: said?.text("text") ?? "", signature };
  }
}

/** Reads a cache point; `undefined` for anything else. Throws LlmRefusal. */
export function readCachePoint(block: RequestObject, note: NoteFeature): CacheMark | undefined {
  const point = block.object("cachePoint");
  if (point === undefined) return undefined;
  note("cacheMarks", block.at("cachePoint"));
  return { ttl: point.choice("ttl", ["5m", "1h"]) };
}

function isCacheable(
  block: ContentBlock,
): block is Extract<ContentBlock, { readonly cache?: CacheMark | undefined }> {
  return (
    block.kind !== "audio" && block.kind !== "reasoning" && block.kind !== "redacted-reasoning"
  );
}
