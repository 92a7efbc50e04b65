import { pathSegment } from "../../http/routing/path-segment.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { EndpointPath } from "./target.ts";

/**
 * Creates a path that contains the model as `{model}`. `stream` is the path for streams. Throws LlmRefusal for a model that
 * would change the path's structure.
 */
export function modelPath(whole: string, stream = whole): EndpointPath {
  const [wholeBefore = "", wholeAfter = ""] = whole.split("{model}");
  const [streamBefore = "", streamAfter = ""] = stream.split("{model}");
  return (model, isStream) => {
    const name = model === "" ? "" : pathSegment(model);
    if (name === undefined) {
      const message = '"model" cannot be a segment of a path';
      throw new LlmRefusal({ kind: "invalid", message, field: "model" });
    }
    return isStream ? streamBefore + name + streamAfter : wholeBefore + name + wholeAfter;
  };
}
