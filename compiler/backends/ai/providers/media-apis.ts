import type { RouteType } from "../../../model/llm-policies.ts";
import type { LlmEndpoint } from "./provider.ts";

/** An API that serves neither chats nor embeddings. */
export interface MediaApi {
  readonly type: RouteType;
  readonly format: LlmEndpoint["format"];
  /** Path below the base URL. */
  readonly path: string;
}

/** APIs for media, moderations, rankings, files and batches, by their names in `formats`. */
const APIS = {
  speech: { type: "Speech", format: "speech", path: "audio/speech" },
  transcriptions: {
    type: "Transcriptions",
    format: "transcriptions",
    path: "audio/transcriptions",
  },
  translations: { type: "Translations", format: "transcriptions", path: "audio/translations" },
  images: { type: "Images", format: "images", path: "images/generations" },
  imageEdits: { type: "ImageEdits", format: "images", path: "images/edits" },
  imageVariations: { type: "ImageVariations", format: "images", path: "images/variations" },
  rerank: { type: "Rerank", format: "rerank", path: "rerank" },
  moderations: { type: "Moderations", format: "moderations", path: "moderations" },
  files: { type: "Files", format: "files", path: "files" },
  messageFiles: { type: "MessageFiles", format: "messageFiles", path: "files" },
  batches: { type: "Batches", format: "batches", path: "batches" },
  messageBatches: { type: "MessageBatches", format: "messageBatches", path: "messages/batches" },
  containers: { type: "Containers", format: "containers", path: "containers" },
} as const satisfies Readonly<Record<string, MediaApi>>;

/** Name of such an API. */
export type MediaWord = keyof typeof APIS;

/** Names of all such APIs. */
export const MEDIA_WORDS: readonly MediaWord[] = [
  ...(["speech", "transcriptions", "translations", "images", "imageEdits"] as const),
  ...(["imageVariations", "rerank", "moderations"] as const),
  ...(["files", "messageFiles", "batches", "messageBatches", "containers"] as const),
];

/** Whether a word is the name of such an API. */
export function isMediaWord(word: string): word is MediaWord {
  return Object.hasOwn(APIS, word);
}

/** Returns an API by its name. */
export function mediaApiOf(word: MediaWord): MediaApi {
  return APIS[word];
}

/** Returns the API for a type of traffic, with its name; `undefined` for other traffic. */
export function mediaApi(type: RouteType): (MediaApi & { readonly word: MediaWord }) | undefined {
  const word = MEDIA_WORDS.find((each) => APIS[each].type === type);
  return word && { word, ...APIS[word] };
}
