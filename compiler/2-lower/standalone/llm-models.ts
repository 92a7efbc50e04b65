import type { LlmValue } from "../../1-parse/standalone/llm.ts";
import type { ModelSettings, NamedModel } from "../../backends/ai/front-door.ts";
import type { LlmModelValue, LlmProviderValue } from "../../backends/ai/front-door-schema.ts";
import { lowerPromptGuard } from "../../backends/ai/guard-file-form.ts";
import { readModelConditions } from "../../backends/ai/model-conditions.ts";
import { optionsOfModel, type ProviderOptions } from "../../backends/ai/providers/index.ts";
import { readModelPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../model/backend-policies.ts";
import type { Configured, LlmPolicies } from "../../model/llm-policies.ts";
import type { PromptGuardConfig } from "../../model/prompt-guards.ts";
import type { FileContext } from "./route-parts.ts";

/** Reads the models of `llm` with what they share: providers, and guardrails of all models. */
export function readModels(
  { models, providers = [], policies }: LlmValue,
  origin: Origin,
  context: FileContext,
): readonly NamedModel[] {
  const shared = new SharedProviders(providers, childOf(origin, "providers"), context);
  const guard = policies?.guardrails;
  const guardOrigin = childOf(origin, "policies", "guardrails");
  const general = guard && { value: lowerPromptGuard(guard, guardOrigin), origin: guardOrigin };
  const read = models.flatMap((model, index) => {
    const at = childOf(origin, "models", index);
    const found = model && readModel(model, at, shared);
    if (model?.passthrough === "detect")
      context.diagnostics.report("passed-unread", childOf(at, "passthrough"), {});
    return found === undefined ? [] : [guarded(found, general)];
  });
  if (!isPartial(childOf(origin, "models"), context)) {
    if (models.length === 0)
      context.diagnostics.report("no-models", keyPlace(childOf(origin, "models")), {});
    shared.reportUnused();
  }
  for (const [name, [first, ...others]] of Map.groupBy(read, (model) => model.name)) {
    const other = others.find(({ isInternal }) => isInternal !== first?.isInternal);
    if (other !== undefined) context.diagnostics.report("mixed-visibility", other.origin, { name });
  }
  return read;
}

type Provider = LlmModelValue["provider"] | LlmProviderValue["provider"];

function readModel(
  model: LlmModelValue,
  origin: Origin,
  shared: SharedProviders,
): NamedModel | undefined {
  const { name, id, provider, visibility, params = {} } = model;
  const own = readModelPolicies(model, origin);
  const conditions = readModelConditions(model, origin);
  const passes = model.passthrough !== undefined;
  const named = { name, id, conditions, passes, isInternal: visibility === "internal", origin };
  if (typeof provider === "string" || provider.reference === undefined) {
    const paramsOrigin = childOf(origin, "params");
    const options = optionsOf(provider, params);
    return { ...named, options, params, paramsOrigin, policies: own };
  }
  const found = shared.get(provider.reference, childOf(origin, "provider", "reference"));
  if (found === undefined) return undefined;
  const merged: ModelSettings = { ...found.value.params, ...params };
  const general = merged.model === undefined ? found.policies : withoutModel(found.policies);
  const policies = mergePolicies(general, own);
  return {
    ...named,
    options: optionsOf(found.value.provider, merged, found.value.name),
    params: merged,
    paramsOrigin: childOf(found.origin, "params"),
    policies,
  };
}

function optionsOf(provider: Provider, params: ModelSettings, name?: string): ProviderOptions {
  if (typeof provider === "string") return optionsOfModel(provider, params);
  const own = name === undefined ? {} : { providerOverride: name };
  const custom = provider.custom && { ...own, ...provider.custom };
  const { model = custom?.model } = params;
  return {
    kind: "custom",
    value: { formats: [], ...custom, ...(model !== undefined && { model }) },
  };
}

/** The providers of `llm` that models refer to. */
class SharedProviders {
  readonly #byName = new Map<
    string,
    { readonly value: LlmProviderValue; readonly origin: Origin }
  >();
  readonly #used = new Set<string>();
  readonly #context: FileContext;

  constructor(
    all: readonly (LlmProviderValue | undefined)[],
    origin: Origin,
    context: FileContext,
  ) {
    this.#context = context;
    for (const [index, value] of all.entries()) {
      if (value === undefined) continue;
      const at = childOf(origin, index);
      const first = this.#byName.get(value.name);
      if (first === undefined) this.#byName.set(value.name, { value, origin: at });
      else {
        const related = [{ at: first.origin, label: "the first one" }];
        const params = { name: value.name };
        context.diagnostics.report("duplicate-provider", childOf(at, "name"), params, related);
      }
    }
  }

  /** Returns a provider with the policies of its models; `undefined` if it does not exist (reported). */
  get(name: string, place: Origin) {
    const found = this.#byName.get(name);
    this.#used.add(name);
    if (found === undefined) {
      const suggestion = suggest(name, [...this.#byName.keys()]);
      this.#context.diagnostics.report("unknown-shared-provider", place, { name, suggestion });
      return undefined;
    }
    const { value, origin } = found;
    const policies =
      value.defaults && readModelPolicies(value.defaults, childOf(origin, "defaults"));
    return { value, origin, policies };
  }

  /** Reports providers that no model refers to. */
  reportUnused(): void {
    for (const [name, { origin }] of this.#byName)
      if (!this.#used.has(name))
        this.#context.diagnostics.report("unused-shared-provider", origin, { name });
  }
}

/** Merges the policies of a provider's models with those of one: request fields by name, the others as a whole. */
function mergePolicies(
  general: BackendPolicies | undefined,
  own: BackendPolicies | undefined,
): BackendPolicies {
  const merged = mergeBackendPolicies(general, own);
  const { ai: shared } = general ?? {};
  const { ai } = own ?? {};
  if (shared === undefined || ai === undefined) return merged;
  const [defaults, overrides] = (["defaults", "overrides"] as const).map((part) =>
    mergeMaps(shared[part], ai[part]),
  );
  const expressions = mergeExpressions(shared.transformations, ai.transformations);
  const final = mergeExpressions(shared.finalTransformations, ai.finalTransformations);
  return {
    ...merged,
    ai: {
      ...shared,
      ...ai,
      ...(defaults && { defaults }),
      ...(overrides && { overrides }),
      ...(expressions && { transformations: expressions }),
      ...(final && { finalTransformations: final }),
    },
  };
}

/** Removes the expression that chooses a model: a fixed model is final. */
function withoutModel(policies: BackendPolicies | undefined): BackendPolicies | undefined {
  const { ai } = policies ?? {};
  if (ai?.transformations === undefined) return policies;
  const { transformations, ...others } = ai;
  const value = transformations.value.filter(({ name }) => name !== "model");
  const kept = value.length === 0 ? {} : { transformations: { ...transformations, value } };
  return { ...policies, ai: { ...others, ...kept } };
}

function mergeMaps<Value>(
  general: Configured<Readonly<Record<string, Value>>> | undefined,
  own: Configured<Readonly<Record<string, Value>>> | undefined,
): Configured<Readonly<Record<string, Value>>> | undefined {
  if (general === undefined || own === undefined) return own ?? general;
  return { ...own, value: { ...general.value, ...own.value } };
}

function mergeExpressions(
  general: LlmPolicies["transformations"],
  own: LlmPolicies["transformations"],
): LlmPolicies["transformations"] {
  if (general === undefined || own === undefined) return own ?? general;
  const names = new Set(own.value.map(({ name }) => name));
  return { ...own, value: [...general.value.filter(({ name }) => !names.has(name)), ...own.value] };
}

/** Adds the guards of all models before those of a model. */
function guarded(
  model: NamedModel,
  general: Configured<PromptGuardConfig> | undefined,
): NamedModel {
  if (general === undefined) return model;
  const own = model.policies?.ai?.promptGuard;
  const promptGuard = own === undefined ? general : joined(general, own);
  const ai = { origin: model.origin, ...model.policies?.ai, promptGuard };
  return { ...model, policies: { ...model.policies, ai } };
}

/** Joins guards; the model decides how they act on streams. */
function joined(
  { value: general }: Configured<PromptGuardConfig>,
  { value, origin }: Configured<PromptGuardConfig>,
): Configured<PromptGuardConfig> {
  const { window, windowOrigin } = value.windowOrigin === undefined ? general : value;
  const request = [...general.request, ...value.request];
  const response = [...general.response, ...value.response];
  return { value: { ...value, request, response, window, windowOrigin }, origin };
}
