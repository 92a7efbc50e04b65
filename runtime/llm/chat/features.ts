import { LlmRefusal } from "./llm-error.ts";

/** Feature of a request that some formats cannot express. */
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
  | "webSearch"
  | "webFetch"
  | "codeExecution"
  | "connectors"
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

/** Records that a request uses a feature, and the field of the client's body that does. */
export type NoteFeature = (feature: Feature, field: string) => void;

/** Records a stop sequence of blanks only, which some providers ignore. `field`: path of the stop sequences. */
export function noteBlankStop(stop: readonly string[], field: string, note: NoteFeature): void {
  if (stop.some((each) => each.trim() === "")) note("blankStop", field);
}

/**
 * Support of a feature when a request is translated. `kept`: full; `changed`: the closest equivalent of the format;
 * `dropped`: omitted, as the completion is correct without it; `refused`: the client gets a 400 that names its field.
 */
export type SupportLevel = "kept" | "changed" | "dropped" | "refused";

/** Support of every feature in a format that requests are translated to. */
export type FeatureSupport = { readonly [Each in Feature]: SupportLevel };

/** Throws LlmRefusal if the request uses a feature that the format cannot express. */
export function refuseUnsupported(
  features: ReadonlyMap<Feature, string>,
  support: FeatureSupport,
  provider: string,
): void {
  for (const [feature, field] of features) {
    if (support[feature] !== "refused") continue;
    throw new LlmRefusal({
      kind: "unsupported",
      message: `"${field}" is not supported by ${provider}`,
      field,
    });
  }
}

/** Throws LlmRefusal for a use of a feature that the provider does not have. `what`: the part that is not supported. */
export function refuseFeature(
  { features }: { readonly features: ReadonlyMap<Feature, string> },
  feature: Feature,
  what: string,
): never {
  const message = `${what} is not supported by the provider of this route`;
  throw new LlmRefusal({ kind: "unsupported", message, field: features.get(feature) });
}
