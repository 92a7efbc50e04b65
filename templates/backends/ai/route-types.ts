import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import type { ImportSymbol } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** The formats of clients, as their modules are called. */
type ClientName = "completions" | "messages" | "responses";

/** What the code of a route type has in its places. */
export interface RouteTypeCode {
  /** The constant that says who serves it. */
  readonly service: string;
  /** How its clients read errors; absent: whatever they speak is not looked at. */
  readonly errors?: ClientName;
  /** Its requests have a JSON body that is read; absent: they have none, or it passes. */
  readonly asked?: AskedType;
  /** Paths below its own are its too. */
  readonly hasParts?: true;
}

/** How requests with a JSON body are read, edited and logged. */
export interface AskedType {
  /** `gen_ai.operation.name`. */
  readonly operation: "chat" | "embeddings" | "count_tokens";
  /** The format of a provider to which they pass as they are. */
  readonly native: string;
  /** The format that says where the texts are. */
  readonly texts: "completions" | "messages" | "responses" | "embeddings";
  /** What is translated for providers of other formats; absent: nothing can be. */
  readonly translated?: "chat" | "embeddings";
  readonly edit: {
    /** The function that does it. */
    readonly name: string;
    /** Whether it sets fields: `defaults` and `overrides` are those of a request for a completion. */
    readonly takesFields: boolean;
    /** What adds messages; absent: there is no prompt. */
    readonly prompts?: ImportSymbol;
  };
}

/** The code of every route type. */
export const routeTypeCodes: { readonly [Type in RouteType]: RouteTypeCode } = {
  Completions: chat("completions", "prepareCompletion"),
  Messages: chat("messages", "prepareMessage"),
  Responses: { ...chat("responses", "prepareResponse"), hasParts: true },
  Embeddings: {
    service: "embeddingsService",
    errors: "completions",
    asked: {
      operation: "embeddings",
      native: "embeddings",
      texts: "embeddings",
      translated: "embeddings",
      edit: { name: "prepareEmbedding", takesFields: true },
    },
  },
  TokenCount: {
    service: "tokenCountService",
    errors: "messages",
    asked: {
      operation: "count_tokens",
      native: "tokenCount",
      texts: "messages",
      edit: { name: "prepareCount", takesFields: false, prompts: promptsOf("messages") },
    },
  },
  Models: { service: "modelList", errors: "completions", hasParts: true },
  Realtime: { service: "realtimeService", errors: "completions" },
  Passthrough: { service: "passthroughService" },
};

function chat(client: ClientName, name: string): RouteTypeCode {
  return {
    service: `${client}Service`,
    errors: client,
    asked: {
      operation: "chat",
      native: client,
      texts: client,
      translated: "chat",
      edit: { name, takesFields: true, prompts: promptsOf(client) },
    },
  };
}

function promptsOf(client: ClientName): ImportSymbol {
  return formatExport(client, "prompts", "Prompts");
}

/** What a module of a format exports: `completionsPrompts`. */
export function formatExport(format: string, module: string, suffix: string): ImportSymbol {
  const folder = format.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return imported(`gwc/runtime/llm/formats/${folder}/${module}`, `${format}${suffix}`);
}
