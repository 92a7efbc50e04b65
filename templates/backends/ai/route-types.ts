import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import type { ImportSymbol } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** Formats of clients, by the names of their modules. */
type ClientName = "completions" | "messages" | "responses" | "generateContent";

/** Code of a route type. */
export interface RouteTypeCode {
  /** Name of the constant of its service. */
  readonly service: string;
  /** Format in which its clients read errors; absent if any format passes. */
  readonly errors?: ClientName;
  /** How its JSON body is read; absent if it has none, or the body passes unread. */
  readonly asked?: AskedType;
  /** Whether paths below its own belong to it. */
  readonly hasParts?: true;
}

/** How requests with a JSON body are read, edited and logged. */
export interface AskedType {
  /** `gen_ai.operation.name`. */
  readonly operation: "chat" | "embeddings" | "count_tokens";
  /** Format of providers that get requests unchanged. */
  readonly native: string;
  /** Format that locates the strings of a message. */
  readonly texts: ClientName | "embeddings";
  /** Name of the function that reads a call of which the body is a part only; absent if it is all. */
  readonly readCall?: ImportSymbol;
  /** Translation for providers of other formats; absent if requests cannot be translated. */
  readonly translated?: "chat" | "embeddings";
  readonly edit: {
    /** Name of the translating function. */
    readonly name: string;
    /** Whether fields are set: `defaults` and `overrides` apply to requests for a completion. */
    readonly takesFields: boolean;
    /** Name of the function that adds messages; absent if there is no prompt. */
    readonly prompts?: ImportSymbol;
  };
}

/** The code of every route type. */
export const routeTypeCodes: { readonly [Type in RouteType]: RouteTypeCode } = {
  Completions: chat("completions", "prepareCompletion"),
  Messages: chat("messages", "prepareMessage"),
  Responses: { ...chat("responses", "prepareResponse"), hasParts: true },
  GenerateContent: contentCode(),
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

function contentCode(): RouteTypeCode {
  const { asked, ...others } = chat("generateContent", "prepareContent");
  const readCall = imported("gwc/runtime/llm/calls/content-call", "readContentCall");
  return { ...others, ...(asked && { asked: { ...asked, readCall } }) };
}

function promptsOf(client: ClientName): ImportSymbol {
  return formatExport(client, "prompts", "Prompts");
}

/** Imports a value of a format's module: `completionsPrompts`. */
export function formatExport(format: string, module: string, suffix: string): ImportSymbol {
  const folder = format.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return imported(`gwc/runtime/llm/formats/${folder}/${module}`, `${format}${suffix}`);
}
