import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { RouteType } from "../../model/llm-policies.ts";
import { choice, list } from "../../schema/schema.ts";

/** Paths of the APIs that the `llm` section has on request, by the word that requests them. */
const APIS = {
  audio: {
    "/audio/speech": "Speech",
    "/audio/transcriptions": "Transcriptions",
    "/audio/translations": "Translations",
  },
  images: {
    "/images/generations": "Images",
    "/images/edits": "ImageEdits",
    "/images/variations": "ImageVariations",
  },
  rerank: { "/rerank": "Rerank" },
  moderations: { "/moderations": "Moderations" },
  batches: {
    "/files": "Files",
    "/batches": "Batches",
    "/messages/batches": "MessageBatches",
    "/containers": "Containers",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, RouteType>>>>;

/** Types of traffic that share the path of another type: headers of the client tell them apart. */
const SAME_PATH: { readonly [Type in RouteType]?: RouteType } = { Files: "MessageFiles" };

/** Word for APIs of the `llm` section. */
type DoorApi = keyof typeof APIS;

/** Schema of the APIs that the `llm` section has on request. */
export const doorApisSchema = apisSchema(
  "APIs besides those of chats and embeddings, at the usual paths. A request goes to the model that it names, in JSON or in a form, if the model's provider has the API.",
);

/** Schema of the APIs that a GatewayModel serves on request. */
export const modelApisSchema = apisSchema(
  "APIs of the model besides those of chats and embeddings, at the usual paths. Its provider needs them.",
);

function apisSchema(description: string) {
  return list(
    choice(
      "APIs: `audio` is speech, transcriptions and translations; `images` is generations, edits and variations; `batches` is batches of OpenAI and Anthropic, their files, and containers of OpenAI.",
      ["audio", "images", "rerank", "moderations", "batches"] satisfies DoorApi[],
    ),
    { minItems: 1, maxItems: 5, uniqueItems: true, description },
  );
}

/** An API that the configuration requests. */
export interface RequestedApi {
  readonly name: DoorApi;
  /** The only model that serves it; absent if all models do whose providers have it. */
  readonly model?: string;
  readonly origin: Origin;
}

/** Types of traffic that are served on request only. */
export const TYPES_ON_REQUEST: ReadonlySet<RouteType> = new Set(
  Object.values(APIS).flatMap(typesOf),
);

/** Returns the types of traffic of an API. */
export function apiTypes({ name }: RequestedApi): readonly RouteType[] {
  return typesOf(APIS[name]);
}

function typesOf(paths: Readonly<Record<string, RouteType>>): readonly RouteType[] {
  return Object.values(paths).flatMap(sharing);
}

/** Adds the types of traffic that share the path of another one, before it. */
export function withSharedPaths<Route extends { readonly type: RouteType }>(
  routes: readonly Route[],
): readonly Route[] {
  return routes.flatMap((route) => sharing(route.type).map((type) => ({ ...route, type })));
}

function sharing(type: RouteType): readonly RouteType[] {
  const other = SAME_PATH[type];
  return other === undefined ? [type] : [other, type];
}

/** Returns the paths of an API, with their types of traffic. */
export function apiPaths({ name }: RequestedApi): Readonly<Record<string, RouteType>> {
  return APIS[name];
}
