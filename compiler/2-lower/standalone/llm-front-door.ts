import { LLM_PORT, type LlmValue } from "../../1-parse/standalone/llm.ts";
import { modelsByName } from "../../backends/ai/front-door.ts";
import { readBackendPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type { ListenerResource, RouteResource } from "../../config/resources.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { type FileContext, readPolicies } from "./route-parts.ts";

/** What a file's `llm` stands for: a listener with one route to models by name. */
export interface LlmFrontDoor {
  readonly listener: ListenerResource;
  readonly route: RouteResource;
}

/** The listener and the route of `llm`. */
export function readLlm(value: LlmValue, origin: Origin, context: FileContext): LlmFrontDoor {
  const { port = LLM_PORT, address } = value;
  const place = childOf(origin, "policies");
  const models = value.models.flatMap((model, index) =>
    model === undefined ? [] : [{ ...model, origin: childOf(origin, "models", index) }],
  );
  const backend = modelsByName(models, readBackendPolicies(value.policies, place), origin);
  const isPartialDoor = isPartial(origin, context);
  return {
    listener: {
      key: "llm",
      name: "llm",
      port,
      portOrigin: childOf(origin, "port"),
      address,
      hostname: "*",
      protocol: "HTTP",
      tls: undefined,
      pathHandling: undefined,
      isPartial: isPartialDoor,
      policies: [],
      origin,
    },
    route: {
      kind: "route",
      name: "llm",
      listeners: [{ listener: "llm", hostnames: [] }],
      isPartial: isPartialDoor,
      matches: [
        { path: { kind: "prefix", value: "/" }, method: undefined, headers: [], query: [], origin },
      ],
      policies: readPolicies(value.policies ?? {}, place, context.diagnostics),
      backends: [backend],
      origin,
    },
  };
}
