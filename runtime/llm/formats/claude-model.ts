import type { Effort, ModelTraits } from "../chat/request.ts";

/** Traits of a model of Claude, by its generation. */
export interface ClaudeTraits {
  /** Whether it decides itself how much to reason (`adaptive`); older models take a budget of tokens. */
  readonly isAdaptive: boolean;
  /** Whether it reasons unless that is turned off. */
  readonly reasonsByDefault: boolean;
  /** Whether it takes `temperature`, `top_p` and `top_k`. */
  readonly takesSampling: boolean;
  /** Whether it hides its reasoning unless a summary is requested. */
  readonly hidesReasoning: boolean;
  /** Its word for an effort. */
  readonly effort: (effort: Effort) => string;
}

/**
 * Returns the traits of a model by its id, at Anthropic, Vertex AI or Bedrock: `claude-opus-4-7`,
 * `us.anthropic.claude-sonnet-4-6-v1:0`. Unknown names are treated as models that take budgets. Source: Anthropic's
 * documentation of adaptive thinking, effort and migrations. `known`: traits that a catalogue lists.
 */
export function claudeTraits(model: string, known?: ModelTraits): ClaudeTraits {
  const [, family = "", major, minor] =
    /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  const version = Number(major ?? 0) + Number(minor ?? 0) / 10;
  const isNewest = version >= 4.7;
  const { reasoning, efforts } = known ?? {};
  return {
    isAdaptive: reasoning === undefined ? version >= 4.6 : reasoning === "adaptive",
    reasonsByDefault: version >= 5,
    takesSampling: known?.takesSampling ?? !isNewest,
    hidesReasoning: isNewest,
    effort: (effort) => {
      // Efforts of a catalogue fit the model already.
      if (efforts !== undefined) return effort;
      if (effort === "minimal") return "low";
      if (isNewest || effort === "low" || effort === "medium") return effort;
      // Versions 4.6 know no "xhigh", and "max" only in the largest model.
      return effort === "max" && family === "opus" ? "max" : "high";
    },
  };
}
