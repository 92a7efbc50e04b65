import type { ChatRequest, Effort, ModelTraits, Reasoning } from "../chat/request.ts";

/** Changes a request so that its model takes it. */
export type FitRequest = (request: ChatRequest) => RequestOfModel;

/** A request for a model. */
export interface RequestOfModel {
  readonly request: ChatRequest;
  /** Fields of the client's body that the model does not take. */
  readonly excluded: readonly string[];
}

/** Returns the function that fits requests to known models, by name; requests for other models are unchanged. */
export function fitModels(
  known: readonly (readonly [names: string | readonly string[], traits: ModelTraits])[],
): FitRequest {
  const models = new Map(
    known.flatMap(([names, traits]) => [names].flat().map((name) => [name, traits] as const)),
  );
  return (request) => {
    const traits = models.get(request.model);
    return traits === undefined ? { request, excluded: [] } : fitted(request, traits);
  };
}

function fitted(request: ChatRequest, traits: ModelTraits): RequestOfModel {
  const { features, maxTokens, reasoning } = request;
  const { maxOutput = Number.POSITIVE_INFINITY, takesSampling = true } = traits;
  const excluded = [
    ...(takesSampling ? [] : SAMPLING),
    ...(traits.reasoning === "none" ? (["reasoning"] as const) : []),
  ];
  return {
    request: {
      ...request,
      traits,
      maxTokens: maxTokens === undefined ? undefined : Math.min(maxTokens, maxOutput),
      reasoning: reasoning && fittedReasoning(reasoning, traits),
      ...(!takesSampling && UNSAMPLED),
    },
    excluded: excluded.flatMap((feature) => features.get(feature) ?? []),
  };
}

const SAMPLING = ["temperature", "topP", "topK", "penalties"] as const;

const UNSAMPLED = {
  ...{ temperature: undefined, topP: undefined, topK: undefined },
  ...{ frequencyPenalty: undefined, presencePenalty: undefined },
};

function fittedReasoning(
  reasoning: Reasoning,
  { reasoning: style, efforts }: ModelTraits,
): Reasoning | undefined {
  if (style === "none" || style === "always") return undefined;
  if (reasoning.kind !== "effort" || efforts === undefined) return reasoning;
  return { ...reasoning, effort: effortWithin(reasoning.effort, efforts) };
}

/** Returns the effort itself, or else the next lower one, or else the lowest. */
function effortWithin(effort: Effort, efforts: readonly Effort[]): Effort {
  const highest = ORDER.indexOf(effort);
  return efforts.findLast((each) => ORDER.indexOf(each) <= highest) ?? efforts[0] ?? effort;
}

const ORDER: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh", "max"];
