import type { JsonObject } from "../../runtime/cel/variables.ts";
import { refuseUnsupported } from "../../runtime/llm/chat/features.ts";
import type { ClientFormat, UpstreamFormat } from "../../runtime/llm/chat/formats.ts";
import { LlmRefusal } from "../../runtime/llm/chat/llm-error.ts";

/** Returns the request that a provider gets for a request of a client; `undefined` if a field prevents it. */
export function sentFor(client: ClientFormat, upstream: UpstreamFormat, body: JsonObject): unknown {
  try {
    const request = client.readRequest(body);
    refuseUnsupported(request.features, upstream.support, "p");
    return JSON.parse(upstream.writeRequest(request, { provider: "p" }, []));
  } catch (error) {
    if (error instanceof LlmRefusal) return undefined;
    throw error;
  }
}
