import { childOf, type Diagnostics, keyPlace, placeKey } from "../../diagnostics/diagnostic.ts";
import type { Json } from "../../model/json.ts";
import type { AiProviderNode } from "./ai-node.ts";

type Traits = NonNullable<AiProviderNode["traits"]>[string];

/** Reports request fields that are set for a model which does not take them, as far as the catalogue knows it. */
export function checkModelFields(
  providers: readonly AiProviderNode[],
  diagnostics: Diagnostics,
): void {
  const seen = new Set<string>();
  for (const { model, traits, policies } of providers) {
    const known = model === undefined ? undefined : traits?.[model];
    if (model === undefined || known === undefined) continue;
    for (const part of [policies?.defaults, policies?.overrides]) {
      for (const [name, value] of Object.entries(part?.value ?? {})) {
        const limit = limitOf(name, value, known);
        if (part === undefined || limit === undefined) continue;
        const origin = childOf(part.origin, name);
        // Models may share their settings.
        if (seen.has(placeKey(origin))) continue;
        seen.add(placeKey(origin));
        diagnostics.report("unfit-model-field", keyPlace(origin), { name, model, limit });
      }
    }
  }
}

/** Returns what a model takes of a field instead of its value; `undefined` if it takes the value. */
function limitOf(
  name: string,
  value: Json,
  { maxOutput, takesSampling, reasoning, efforts }: Traits,
): string | undefined {
  if (takesSampling === false && SAMPLING.has(name)) return "no sampling parameters";
  if (MAX_TOKENS.has(name) && typeof value === "number" && value > (maxOutput ?? value))
    return `at most ${maxOutput} tokens of output`;
  if (name !== "reasoning_effort" || value === "none") return undefined;
  if (reasoning === "none") return "no reasoning effort";
  const isTaken = efforts === undefined || efforts.some((effort) => effort === value);
  return isTaken ? undefined : `the efforts ${efforts.join(", ")}`;
}

const SAMPLING: ReadonlySet<string> = new Set([
  ...["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"],
]);

const MAX_TOKENS: ReadonlySet<string> = new Set([
  ...["max_tokens", "max_completion_tokens", "max_output_tokens"],
]);
