import { type Case, type Cost, compare } from "./compare.ts";
import type { Pace } from "./duel.ts";
import { request, withUpstream } from "./llm.ts";

/** As long as the completion of the provider. */
const BODY = JSON.stringify({ content: "word ".repeat(255) });

/** How many times the CPU of a direct response a cached one takes at most. */
export const CACHED = 1.3;

/** Measures completions from the cache, compared with direct responses of the same length to the same requests. */
export function measureCached(pace: Pace): Promise<readonly Cost[]> {
  const requests = [request(false, [])];
  const headers = { set: { "content-type": "application/json" } };
  return withUpstream((host) => {
    const direct: Case = {
      name: "direct response",
      routes: [
        {
          name: "chat",
          policies: {
            directResponse: { status: 200, body: BODY },
            responseHeaderModifier: headers,
          },
        },
      ],
      requests,
    };
    const cached: Case = {
      name: "cached",
      routes: [
        {
          name: "chat",
          policies: { ai: { cache: { ttl: "1h", key: '"all"' } } },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }],
        },
      ],
      requests,
    };
    return compare(
      [direct, { ...direct, name: "direct again", gateway: direct.name }, cached],
      host,
      pace,
    );
  });
}
