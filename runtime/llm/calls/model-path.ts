import type { EndpointPath } from "./target.ts";

/** A path in which the model stands, as `{model}`; `stream`: where streams are asked for. */
export function modelPath(whole: string, stream = whole): EndpointPath {
  const [wholeBefore = "", wholeAfter = ""] = whole.split("{model}");
  const [streamBefore = "", streamAfter = ""] = stream.split("{model}");
  return (model, isStream) => {
    const name = encodeURIComponent(model);
    return isStream ? streamBefore + name + streamAfter : wholeBefore + name + wholeAfter;
  };
}
