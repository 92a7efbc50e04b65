import type { RouteType } from "../../../compiler/model/llm-policies.ts";
import type { LlmOperation } from "../../../runtime/llm/calls/chat-service.ts";
import type { ImportSymbol } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** Formats of clients, by the names of their modules. */
type ClientName = "completions" | "messages" | "responses" | "generateContent" | "converse";

/** Formats of media, rankings and moderations, by the names of their modules. */
type MediaName = "speech" | "transcriptions" | "images" | "rerank" | "moderations";

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
  /** Which objects of providers it serves; absent if none. */
  readonly serve?: "files" | "messageFiles" | "batches" | "messageBatches" | "containers";
}

/** How requests with a JSON body are read, edited and logged. */
export interface AskedType {
  /** `gen_ai.operation.name`. */
  readonly operation: LlmOperation;
  /** Format of providers that get requests unchanged. */
  readonly native: string;
  /** Format that locates the strings of a message. */
  readonly texts: ClientName | "embeddings" | MediaName;
  /** Whether requests are forms; absent if they are JSON. */
  readonly isForm?: true;
  /** Whether clients may request streams; absent if not. */
  readonly streams?: true;
  /** Whether responses may be cached; absent if not. */
  readonly isCached?: true;
  /** Name of the function that reads a call of which the body is a part only; absent if it is all. */
  readonly readCall?: ImportSymbol;
  /** Name of the function that responds if the provider of a model does not; absent if there is none. */
  readonly estimate?: ImportSymbol;
  /** Translation for providers of other formats; absent if requests cannot be translated. */
  readonly translated?: "chat" | "embeddings" | "rerank" | "images";
  readonly edit: {
    /** Name of the translating function. */
    readonly name: string;
    /** Whether fields are set: `defaults` and `overrides` apply to requests for a completion. */
    readonly takesFields: boolean;
    /** Name of the function that adds messages; absent if there is no prompt. */
    readonly prompts?: ImportSymbol;
  };
}

/** Function that reads calls of Google's API. */
const READ_CONTENT_CALL = imported("gwc/runtime/llm/calls/content-call", "readContentCall");

/** How forms are read. */
const FORM = {
  isForm: true,
  readCall: imported("gwc/runtime/llm/forms/form-call", "readFormCall"),
} as const;

/** The code of every route type. */
export const routeTypeCodes: { readonly [Type in RouteType]: RouteTypeCode } = {
  Completions: chat("completions", "prepareCompletion"),
  Messages: chat("messages", "prepareMessage"),
  Responses: { ...chat("responses", "prepareResponse"), hasParts: true },
  GenerateContent: pathCode(chat("generateContent", "prepareContent"), READ_CONTENT_CALL),
  Converse: pathCode(
    chat("converse", "prepareConverse"),
    imported("gwc/runtime/llm/calls/converse-call", "readConverseCall"),
  ),
  Embeddings: {
    service: "embeddingsService",
    errors: "completions",
    asked: {
      operation: "embeddings",
      native: "embeddings",
      texts: "embeddings",
      translated: "embeddings",
      isCached: true,
      edit: { name: "prepareEmbedding", takesFields: true },
    },
  },
  Speech: media("speech", "speech", "prepareSpeech", {
    readCall: imported("gwc/runtime/llm/calls/speech-call", "readSpeechCall"),
    streams: true,
  }),
  Transcriptions: media("transcriptions", "transcription", "prepareTranscription", {
    ...FORM,
    streams: true,
  }),
  Translations: {
    ...media("transcriptions", "translation", "prepareTranslation", FORM),
    service: "translationsService",
  },
  Images: media("images", "image_generation", "prepareImage", {
    streams: true,
    translated: "images",
  }),
  ImageEdits: {
    ...media("images", "image_edit", "prepareImageEdit", {
      ...FORM,
      readCall: imported("gwc/runtime/llm/forms/form-call", "readFormOrJsonCall"),
      streams: true,
    }),
    service: "imageEditsService",
  },
  ImageVariations: {
    ...media("images", "image_variation", "prepareImageVariation", FORM),
    service: "imageVariationsService",
  },
  Rerank: media("rerank", "rerank", "prepareRerank", { translated: "rerank" }),
  Moderations: media("moderations", "moderation", "prepareModeration"),
  Files: { service: "filesService", errors: "completions", hasParts: true, serve: "files" },
  MessageFiles: {
    service: "messageFilesService",
    errors: "messages",
    hasParts: true,
    serve: "messageFiles",
  },
  Batches: { service: "batchesService", errors: "completions", hasParts: true, serve: "batches" },
  MessageBatches: {
    service: "messageBatchesService",
    errors: "messages",
    hasParts: true,
    serve: "messageBatches",
  },
  Containers: {
    service: "containersService",
    errors: "completions",
    hasParts: true,
    serve: "containers",
  },
  TokenCount: {
    service: "tokenCountService",
    errors: "messages",
    asked: {
      operation: "count_tokens",
      native: "tokenCount",
      texts: "messages",
      estimate: imported("gwc/runtime/llm/token-count", "respondTokenEstimate"),
      edit: { name: "prepareCount", takesFields: false, prompts: promptsOf("messages") },
    },
  },
  ContentTokenCount: {
    service: "contentTokenCountService",
    errors: "generateContent",
    asked: {
      operation: "count_tokens",
      native: "contentTokenCount",
      texts: "generateContent",
      readCall: READ_CONTENT_CALL,
      estimate: imported("gwc/runtime/llm/token-count", "respondContentTokenEstimate"),
      edit: {
        name: "prepareContentCount",
        takesFields: false,
        prompts: promptsOf("generateContent"),
      },
    },
  },
  Models: { service: "modelList", errors: "completions", hasParts: true },
  Usage: { service: "ownUsage", errors: "completions" },
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
      streams: true,
      isCached: true,
      edit: { name, takesFields: true, prompts: promptsOf(client) },
    },
  };
}

/** Returns the code of a route type for media, rankings or moderations. `name`: that of the function that edits requests. */
function media(
  format: MediaName,
  operation: LlmOperation,
  name: string,
  more: Partial<Pick<AskedType, "readCall" | "isForm" | "streams" | "translated">> = {},
): RouteTypeCode {
  return {
    service: `${format}Service`,
    errors: "completions",
    asked: { operation, native: format, texts: format, edit: { name, takesFields: true }, ...more },
  };
}

/** Returns the code of a route type whose paths name the model. */
function pathCode({ asked, ...others }: RouteTypeCode, readCall: ImportSymbol): RouteTypeCode {
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
