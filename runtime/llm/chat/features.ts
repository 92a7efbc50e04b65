import { LlmRefusal } from "./llm-error.ts";

/** What a request may ask for that not every format can say. */
export type Feature =
  | "imageUrl"
  | "image"
  | "documentUrl"
  | "document"
  | "fileReference"
  | "audio"
  | "toolResultMedia"
  | "toolError"
  | "strictTools"
  | "toolChoice"
  | "allowedTools"
  | "parallelTools"
  | "temperature"
  | "topP"
  | "topK"
  | "penalties"
  | "seed"
  | "choices"
  | "stop"
  | "blankStop"
  | "objectOutput"
  | "schemaOutput"
  | "reasoning"
  | "reasoningReplay"
  | "cacheMarks"
  | "user";

/** Notes that a request asks for something, and the field of the client's body that does. */
export type NoteFeature = (feature: Feature, field: string) => void;

/** Notes a stop of blanks alone: not every provider stops there. `field`: where the stops stand. */
export function noteBlankStop(stop: readonly string[], field: string, note: NoteFeature): void {
  if (stop.some((each) => each.trim() === "")) note("blankStop", field);
}

/**
 * What becomes of a feature where a request is translated: `kept`; `changed`: the nearest that the format can say;
 * `dropped`: a hint, the completion is right without it; `refused`: the client gets a 400 that names its field.
 */
export type Fate = "kept" | "changed" | "dropped" | "refused";

/** The fate of every feature in a format that requests are written in. */
export type FeatureSupport = { readonly [Each in Feature]: Fate };

/** Throws LlmRefusal when the request asks for what the format cannot say. */
export function refuseUnkept(
  features: ReadonlyMap<Feature, string>,
  fates: FeatureSupport,
  provider: string,
): void {
  for (const [feature, field] of features) {
    if (fates[feature] !== "refused") continue;
    throw new LlmRefusal({
      kind: "unsupported",
      message: `"${field}" cannot be passed on to ${provider}`,
      field,
    });
  }
}
