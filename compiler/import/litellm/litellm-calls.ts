import { fieldsIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import type { SourceFields } from "../source-fields.ts";
import { liteLlmAccess } from "./litellm-access.ts";

/** Converts the settings for all models: client key, retries, timeout, cache and unsupported fields. */
export function liteLlmCalls(source: SourceFields): {
  readonly value: DraftFields;
  readonly notes: readonly (readonly [field: string, text: string])[];
  readonly isClosed: boolean;
} {
  const { litellm_settings, router_settings } = fieldsIn(source.value);
  const [litellm, router] = [litellm_settings, router_settings].map(fieldsIn);
  const access = liteLlmAccess(source);
  const value: Record<string, unknown> = { ...access.value };
  const notes = [...access.notes];
  const number = (field: "num_retries" | "request_timeout" | "timeout"): number | undefined => {
    for (const [section, settings] of [
      ["router_settings", router],
      ["litellm_settings", litellm],
    ] as const) {
      const found = settings?.[field];
      if (typeof found !== "number") continue;
      source.take(section, field);
      return found;
    }
    return undefined;
  };
  const retries = number("num_retries");
  if (retries !== undefined && retries > 0) {
    value.retry = { attempts: retries };
    notes.push([
      "retry",
      "LiteLLM retries on another server of the same name; gwc chooses again, possibly the same server",
    ]);
  }
  const seconds = number("timeout") ?? number("request_timeout");
  if (seconds !== undefined) value.timeout = { requestTimeout: `${Math.round(seconds * 1000)}ms` };
  const cache = cacheOf(source);
  if (litellm?.drop_params === true) source.take("litellm_settings", "drop_params");
  const ai = {
    ...(cache && { cache: cache.value }),
    ...(litellm?.drop_params === true && { unsupported: "drop" }),
  };
  if (Object.keys(ai).length > 0) value.ai = ai;
  if (cache !== undefined) notes.push(...cache.notes.map((text) => ["ai", text] as const));
  return { value, notes, isClosed: access.isClosed };
}

/** Types of caches that hold complete responses by exact requests. */
const EXACT: ReadonlySet<unknown> = new Set(["local", "redis", "disk", "s3", "gcs", undefined]);

/** Seconds for which LiteLLM keeps a response that has no `ttl`. */
const CACHE_SECONDS = 600;

/** Converts `cache` and its parameters; `undefined` if nothing is cached, or only what clients ask for. */
function cacheOf(
  source: SourceFields,
): { readonly value: DraftFields; readonly notes: readonly string[] } | undefined {
  const { cache, cache_params } = fieldsIn(fieldsIn(source.value).litellm_settings);
  const { type, ttl, mode } = fieldsIn(cache_params);
  if (cache !== true || !EXACT.has(type) || mode === "default_off") return undefined;
  source.take("litellm_settings", "cache");
  const take = (field: string) => source.take("litellm_settings", "cache_params", field);
  if (type === "local") take("type");
  const seconds = typeof ttl === "number" && ttl > 0 ? ttl : undefined;
  if (seconds !== undefined) take("ttl");
  return {
    value: { ttl: `${Math.max(1, Math.round(seconds ?? CACHE_SECONDS))}s` },
    notes: [
      "LiteLLM gives a cached response to every caller; here each caller has its own, unless `key` says who shares them",
      ...(type === undefined || type === "local"
        ? []
        : [`responses are cached in the memory of each gateway, not in ${String(type)}`]),
    ],
  };
}
