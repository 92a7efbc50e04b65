import type { FeatureSupport } from "../../chat/features.ts";

/** What Bedrock's Converse can say of what a request may ask for. */
export const converseFates: FeatureSupport = {
  // The gateway fetches nothing that a client names.
  imageUrl: "refused",
  image: "kept",
  documentUrl: "refused",
  document: "kept",
  fileReference: "refused",
  audio: "refused",
  toolResultMedia: "kept",
  toolError: "kept",
  strictTools: "kept",
  // `none` leaves no tool to call; while Claude thinks none can be forced.
  toolChoice: "changed",
  allowedTools: "kept",
  // Claude is told; of several calls of others the first one is passed on.
  parallelTools: "changed",
  // 0..1 here: what is above is 1. Not while Claude thinks, nor are topP and topK.
  temperature: "changed",
  topP: "kept",
  // By Claude and Nova alone: refused for other models.
  topK: "kept",
  penalties: "dropped",
  seed: "dropped",
  choices: "refused",
  stop: "kept",
  blankStop: "refused",
  objectOutput: "changed",
  schemaOutput: "kept",
  // Claude thinks; others think as they do.
  reasoning: "changed",
  // Not what nobody signed.
  reasoningReplay: "changed",
  // Four, by models that cache.
  cacheMarks: "changed",
  user: "dropped",
};
