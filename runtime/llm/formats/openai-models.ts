/**
 * Whether a model of OpenAI reasons, whatever server forwards to it: `o3`, `openai/gpt-5-mini`. Such models refuse
 * `max_tokens` and sampling parameters.
 */
export function isReasoningModel(model: string): boolean {
  return REASONING_MODEL.test(model);
}

const REASONING_MODEL = /(?:^|\/)(?:o[1-9]|gpt-(?:[5-9]|\d\d))/;
