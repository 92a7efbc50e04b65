import type { JsonObject } from "../../../cel/variables.ts";
import { parseExact } from "../../../json/exact-json.ts";
import type {
  CacheMark,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  ToolResultBlock,
} from "../../chat/content.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import { type ChatRequest, type Turn, Turns } from "../../chat/request.ts";
import { shortName } from "../short-name.ts";
import { isSigned } from "../thinking.ts";
import type { CachePoints } from "./cache-points.ts";
import { DOCUMENT_FORMATS, IMAGE_FORMATS } from "./media-types.ts";

/** Writes the conversation of one request for Converse. */
export class ContentWriter {
  readonly #request: ChatRequest;
  readonly #points: CachePoints;
  readonly #documentNames = new Set<string>();

  constructor(request: ChatRequest, points: CachePoints) {
    this.#request = request;
    this.#points = points;
  }

  /** Returns alternating turns of user and assistant, without empty ones. */
  messages(): readonly JsonObject[] {
    const turns = new Turns();
    for (const { role, blocks } of this.#request.turns) {
      const kept = blocks.filter(isKept);
      if (kept.length > 0) turns.add(role, kept);
    }
    // The last turn differs in every request; the turns before it are repeated.
    const cached = this.#points.lastCached(turns.all.length);
    return turns.all.map((turn, index) => {
      const content = this.#turn(turn);
      const point = this.#points.after(index === cached ? "messages" : undefined, content);
      return { role: turn.role, content: [...content, ...point] };
    });
  }

  #turn({ blocks }: Turn): readonly JsonObject[] {
    const content = blocks.flatMap((block) => [
      ...this.#block(block),
      ...this.#points.marked(cacheOf(block)),
    ]);
    const hasDocument = blocks.some(({ kind }) => kind === "document");
    // Converse requires a text next to a document.
    return hasDocument && !blocks.some(({ kind }) => kind === "text")
      ? [...content, { text: "The document." }]
      : content;
  }

  #block(block: ContentBlock): readonly JsonObject[] {
    switch (block.kind) {
      case "text":
        return [{ text: block.text }];
      case "image":
        return [this.#image(block)];
      case "document":
        return [this.#document(block)];
      case "tool-call": {
        const { id, name, input } = block;
        return [{ toolUse: { toolUseId: idOf(id), name, input: parseExact(input) } }];
      }
      case "tool-result":
        return [this.#result(block)];
      case "reasoning": {
        const { text, signature } = block;
        return [{ reasoningContent: { reasoningText: { text, signature } } }];
      }
      case "redacted-reasoning":
        return [{ reasoningContent: { redactedContent: block.data } }];
      case "audio":
        return [];
    }
  }

  #image({ source }: ImageBlock): JsonObject {
    const format = source.kind === "base64" ? IMAGE_FORMATS[source.mediaType] : undefined;
    if (source.kind !== "base64" || format === undefined) throw this.#wrongMedia("image");
    return { image: { format, source: { bytes: source.data } } };
  }

  #document({ source, name }: DocumentBlock): JsonObject {
    if (source.kind === "text") {
      const bytes = Buffer.from(source.text).toString("base64");
      return { document: { format: "txt", name: this.#nameOf(name), source: { bytes } } };
    }
    const format = source.kind === "base64" ? DOCUMENT_FORMATS[source.mediaType] : undefined;
    if (source.kind !== "base64" || format === undefined) throw this.#wrongMedia("document");
    return { document: { format, name: this.#nameOf(name), source: { bytes: source.data } } };
  }

  #result({ id, content, isError }: ToolResultBlock): JsonObject {
    const kept = content.filter(isKept).flatMap((block) => this.#block(block));
    return {
      toolResult: {
        toolUseId: idOf(id),
        // Converse refuses empty results.
        content: kept.length === 0 ? [{ text: "(nothing)" }] : kept,
        ...(isError && { status: "error" }),
      },
    };
  }

  /** Returns a name of letters, digits, single spaces and a few signs, unique in a request. */
  #nameOf(name = "document"): string {
    const words = name.replace(/[^A-Za-z0-9()[\]-]+/g, " ").trim();
    const base = words === "" ? "document" : words.slice(0, 180).trim();
    let unique = base;
    for (let count = 2; this.#documentNames.has(unique); count++) unique = `${base} (${count})`;
    this.#documentNames.add(unique);
    return unique;
  }

  #wrongMedia(feature: "image" | "document"): LlmRefusal {
    const field = this.#request.features.get(feature);
    const message = `the model does not support this type of ${feature}`;
    return new LlmRefusal({ kind: "unsupported", message, field });
  }
}

/** Converse refuses blank texts and unsigned reasoning. */
function isKept(block: ContentBlock): boolean {
  if (block.kind === "text") return block.text.trim() !== "";
  return block.kind !== "reasoning" || isSigned(block);
}

function cacheOf(block: ContentBlock): CacheMark | undefined {
  return "cache" in block ? block.cache : undefined;
}

/** Returns an id of at most 64 letters, digits, `_` and `-`. Equal ids are changed in the same way. */
function idOf(id: string): string {
  return id.length <= 64 ? id.replace(/[^a-zA-Z0-9_-]/g, "_") : shortName(id);
}
