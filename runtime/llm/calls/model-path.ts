import { pathSegment } from "../../http/routing/path-segment.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { EndpointPath } from "./target.ts";

/**
 * A path in which the model stands, as `{model}`; `stream`: where streams are asked for. Throws an LlmRefusal for a model
 * that would make another path of it.
 */
export function modelPath(whole: string, stream = whole): EndpointPath {
  const [wholeBefore = "", wholeAfter = ""] = whole.split("{model}");
  const [streamBefore = "", streamAfter = ""] = stream.split("{model}");
  return (model, isStream) => {
    const name = model === "" ? "" : pathSegment(model);
    if (name === undefined) {
      const message = '"model" can\'t be a segment of a path';
      throw new LlmRefusal({ kind: "invalid", message, field: "model" });
    }
    return isStream ? streamBefore + name + streamAfter : wholeBefore + name + wholeAfter;
  };
}
