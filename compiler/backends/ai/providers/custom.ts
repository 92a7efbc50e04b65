import type { LlmFormatName } from "../../../../runtime/llm/chat/formats.ts";
import { backendReferenceFields } from "../../../manifests/field-types.ts";
import { PATH_FORM } from "../../../schema/path-form.ts";
import { choice, type Infer, list, object, shortText, validated } from "../../../schema/schema.ts";
import { ANTHROPIC_VERSION } from "./anthropic-version.ts";
import { isMediaWord, type MediaWord, mediaApi, mediaApiOf } from "./media-apis.ts";
import { CHAT_APIS, type ChatApi, chatEndpoint } from "./openai-apis.ts";
import {
  type Preset,
  type PresetName,
  presets,
  SERVER_FORMATS,
  type ServerFormat,
} from "./presets.ts";
import { type LlmEndpoint, type LlmProvider, type ModelParams, modelField } from "./provider.ts";

/** Words for formats: ours, and the other spellings of the reference. */
const FORMAT_WORDS: Readonly<Record<string, ServerFormat>> = {
  ...Object.fromEntries(SERVER_FORMATS.map((word) => [word, word])),
  ...Object.fromEntries(
    SERVER_FORMATS.map((word) => [`${word.charAt(0).toUpperCase()}${word.slice(1)}`, word]),
  ),
  anthropicTokenCount: "tokenCount",
  AnthropicTokenCount: "tokenCount",
};

/** Returns the schema of the APIs of a server. */
export function serverFormats() {
  return list(
    object(
      {
        type: choice("Format of the API.", Object.keys(FORMAT_WORDS)),
        path: shortText("Path of the API on the server; below the base URL by default.", {
          maxLength: 1024,
          ...PATH_FORM,
        }),
      },
      { required: ["type"] },
    ),
    {
      minItems: 1,
      maxItems: SERVER_FORMATS.length,
      description:
        "APIs of the server. Clients of chat completions, messages and responses are translated if the server does not have their API.",
    },
  );
}

const fields = {
  model: modelField,
  formats: serverFormats(),
  providerOverride: shortText("Name of the provider in logs, metrics and `modelCatalog`.", {
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
    form: 'letters, digits, ".", "_" and "-"',
  }),
};

const rest = {
  required: ["formats"],
  description: "A server that has APIs of OpenAI or Anthropic, at an address of one's own.",
} as const;

/** Schema of a server with APIs of OpenAI or Anthropic. */
export const customSchema = object(fields, rest);

/** Returns the schema of the Service or pool of such a server. */
export function customService(description: string) {
  const { namespace: _, ...reference } = backendReferenceFields;
  return object(reference, { required: ["name"], description });
}

/** Schema of such a server in manifests. */
export const customManifestSchema = object(
  {
    ...fields,
    backendRef: customService("Service or InferencePool of the server, instead of `host`."),
  },
  rest,
);

/** Options of a server: as configured, or of a known one. */
type CustomOptions = Infer<typeof customSchema> & {
  readonly preset?: PresetName;
  readonly api?: ModelParams["api"];
};

/** A server with APIs of OpenAI or Anthropic: one of the configuration, or a known one. */
export const custom: LlmProvider<"custom", CustomOptions> = {
  kind: "custom",
  fileKeys: [],
  system: "custom",
  ownSystem: ({ preset, providerOverride }) => providerOverride ?? preset,
  schema: customSchema,
  kubernetes: {
    schema: customManifestSchema,
    lower: (value) => {
      const { backendRef: _, ...options } = validated(customManifestSchema, value);
      return options;
    },
  },
  ofModel: ({ model }) => ({ formats: [], ...(model !== undefined && { model }) }),
  url: ({ preset }) => (preset === undefined ? undefined : new URL(presets[preset].url).origin),
  basePath: baseOf,
  endpoint: (type, options): LlmEndpoint | undefined => {
    const own = (format: ServerFormat) => endpointOf(format, options);
    switch (type) {
      case "Completions":
      case "Messages":
      case "GenerateContent":
      case "Converse":
      case "Responses": {
        const { api, model } = options;
        const apis = CHAT_APIS.filter((each) => own(each) !== undefined);
        const pathOf = (each: ChatApi) => own(each) ?? { path: baseOf(options) + SUFFIXES[each] };
        return chatEndpoint(type, { api, apis, isOwnServer: false, model, pathOf });
      }
      case "Embeddings":
        return own("embeddings");
      case "TokenCount":
        return own("tokenCount");
      case "Realtime":
        return own("realtime");
      default: {
        const api = mediaApi(type);
        return api && own(api.word);
      }
    }
  },
  credential: { kind: "bearer" },
  headers: ({ formats, api, preset }) => {
    const isAnthropic =
      api === "messages" || formats.some(({ type }) => ANTHROPIC.has(formatOf(type)));
    const known: Preset | undefined = preset && presets[preset];
    return [...(isAnthropic ? ANTHROPIC_VERSION : []), ...(known?.headers ?? [])];
  },
  isCompatible: true,
};

/** Returns the options of a known server. */
export function presetOptions(preset: PresetName, { model, api }: ModelParams): CustomOptions {
  const { formats, apart }: Preset = presets[preset];
  return {
    preset,
    formats: formats.map((type) => {
      const path = apart?.[type];
      return path === undefined ? { type } : { type, path };
    }),
    ...(model !== undefined && { model }),
    ...(api !== undefined && { api }),
  };
}

/** Formats of Anthropic's APIs, which require a version. */
const ANTHROPIC: ReadonlySet<ServerFormat> = new Set([
  ...(["messages", "tokenCount", "messageFiles", "messageBatches"] as const),
]);

/** Paths of APIs below the base URL. */
const SUFFIXES = {
  completions: "/chat/completions",
  messages: "/messages",
  responses: "/responses",
  embeddings: "/embeddings",
  tokenCount: "/messages/count_tokens",
  realtime: "/realtime",
} as const satisfies Readonly<Record<Exclude<ServerFormat, MediaWord>, string>>;

/** Returns the format of an API, and its path below the base URL. */
function apiOf(word: ServerFormat): { readonly format: LlmFormatName; readonly path: string } {
  if (!isMediaWord(word)) return { format: word, path: SUFFIXES[word] };
  const { format, path } = mediaApiOf(word);
  return { format, path: `/${path}` };
}

function endpointOf(format: ServerFormat, options: CustomOptions): LlmEndpoint | undefined {
  const found = options.formats.find(({ type }) => formatOf(type) === format);
  if (found === undefined) return undefined;
  const { path } = found;
  const api = apiOf(format);
  return path === undefined
    ? { format: api.format, path: baseOf(options) + api.path }
    : { format: api.format, path, isFixed: true };
}

function baseOf({ preset }: CustomOptions): string {
  return preset === undefined ? "/v1" : new URL(presets[preset].url).pathname.replace(/\/$/, "");
}

function formatOf(word: string): ServerFormat {
  return FORMAT_WORDS[word] ?? "completions";
}
