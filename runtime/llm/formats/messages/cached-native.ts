import { parseExact } from "../../../json/exact-json.ts";
import type { JsonBody } from "../../../json/json-body.ts";
import type { NativeFormat, PromptCaching } from "../../chat/formats.ts";
import { CACHED_PARTS, withBreakpoints } from "./cache-breakpoints.ts";

/** Returns a variant of the Messages API whose requests get the configured cache breakpoints. */
export function cachedMessages(format: NativeFormat, caching: PromptCaching): NativeFormat {
  return {
    ...format,
    adapt: (body) => {
      format.adapt(body);
      addBreakpoints(body, caching);
    },
  };
}

/** Parts that are not valid JSON are left to the provider, which refuses them. */
function addBreakpoints(body: JsonBody, caching: PromptCaching): void {
  const parts = CACHED_PARTS.map((part) => [part, parsedPart(body.get(part))] as const);
  const own = body.get("cache_control");
  const request = {
    ...Object.fromEntries(parts),
    ...(own !== undefined && own !== "null" && { cache_control: own }),
  };
  const marked: Readonly<Record<string, unknown>> = withBreakpoints(request, caching);
  for (const [part, value] of parts) {
    if (marked[part] !== value) body.set(part, JSON.stringify(marked[part]));
  }
}

function parsedPart(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : parseExact(json);
  } catch {
    return undefined;
  }
}
