import type { ProviderConfig, VirtualModelConfig } from "../../../backends/ai/ai-config.ts";
import { apiTypes, type RequestedApi } from "../../../backends/ai/door-apis.ts";
import { type ServedModel, servedModels } from "../../../backends/ai/front-door.ts";
import { apisOfModel, customOf, providerOfModel } from "../../../backends/ai/manifest-models.ts";
import type { ModelConditions } from "../../../backends/ai/model-conditions.ts";
import { refusedProvider, UNRESOLVED } from "../../../backends/ai/refused-models.ts";
import type { BackendSection } from "../../../backends/backend.ts";
import {
  kubernetesHeaderChangesSchema,
  readKubernetesHeaderChanges,
} from "../../../backends/parts/header-changes.ts";
import { kubernetesRulesSchema, lowerKubernetesRules } from "../../../backends/parts/rules.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import { validated } from "../../../schema/schema.ts";
import { type KubernetesBackend, selectedServer } from "../backends/backends.ts";
import { portAddress } from "../inventory/services.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { type ModelManifest, nameOfModel } from "./model-tables.ts";
import { virtualModelOf } from "./virtual-models.ts";

/**
 * Returns the backend that serves models by name, given oldest first. Of models with the same name, the oldest is
 * served. `place` is the location where they are served.
 */
export function modelsBackend(
  models: readonly ModelManifest[],
  place: Origin,
  context: PolicyContext,
): KubernetesBackend {
  const names = new Set<string>();
  const served: ServedModel[] = [];
  const virtual: VirtualModelConfig[] = [];
  const parts = new Map<string, BackendSection>();
  const apis: RequestedApi[] = [];
  for (const model of models) {
    const name = nameOfModel(model);
    if (names.has(name)) {
      const at =
        model.spec?.match?.model === undefined ? ["metadata", "name"] : ["spec", "match", "model"];
      context.diagnostics.report("repeated-model", childOf(model.origin, ...at), { name });
      continue;
    }
    names.add(name);
    const found = model.isPartial ? undefined : readModel(model, name, context);
    if (found !== undefined && "served" in found) apis.push(...found.apis);
    if (found === undefined) {
      served.push({ name, isInternal: false, provider: refusedProvider(name, place) });
    } else if ("routing" in found) virtual.push(found);
    else {
      served.push(found.served);
      parts.set(name, found.part);
    }
  }
  const config = servedModels(served, virtual, undefined, place, apis);
  return { config, manifest: models[0], parts, port: undefined, addresses: [] };
}

/** Reads a model; `undefined` if it has mistakes (reported). */
function readModel(
  model: ModelManifest,
  name: string,
  context: PolicyContext,
):
  | {
      readonly served: ServedModel;
      readonly part: BackendSection;
      readonly apis: readonly RequestedApi[];
    }
  | VirtualModelConfig
  | undefined {
  const { spec } = model;
  if (spec === undefined) return undefined;
  const origin = childOf(model.origin, "spec");
  const options = providerOfModel(spec);
  if (options === undefined) return virtualModelOf(model, name, context);
  const { baseURL } = spec;
  const ofService = serviceOf(model, context);
  if (ofService === "unknown") return undefined;
  const headers = headersOf(model);
  const apis = apisOfModel(spec, name, origin);
  const server =
    baseURL === undefined
      ? ofService && { address: ofService.address, isBaseUrl: false, origin: ofService.origin }
      : { address: baseURL, isBaseUrl: true, origin: childOf(origin, "baseURL") };
  const provider: ProviderConfig = {
    name,
    options,
    optionsOrigin: childOf(origin, "provider"),
    server,
    ...{ port: undefined, prefix: undefined, path: undefined, tokenize: undefined },
    policies: Object.keys(headers).length === 0 ? undefined : headers,
    onRequest: apis.flatMap(apiTypes),
    origin,
  };
  const service = ofService && { service: ofService.selected };
  return {
    served: {
      ...{ name, isInternal: spec.visibility === "Internal", provider },
      conditions: conditionsOf(model),
    },
    part: { name, manifest: model, ...service },
    apis,
  };
}

/** Returns the Service or pool of a custom server: `undefined` if it names none, "unknown" if it is missing (reported). */
function serviceOf(model: ModelManifest, context: PolicyContext) {
  const reference = model.spec && customOf(model.spec)?.backendRef;
  if (reference === undefined) return undefined;
  const origin = childOf(model.origin, "spec", "custom", "backendRef");
  const selected = selectedServer(reference, model, origin, context);
  if (selected === undefined) return "unknown";
  const { service, port } = selected;
  // The address of a pool follows with its picker.
  const address =
    service.kind === "Service" ? portAddress(service, port, origin, context) : UNRESOLVED;
  return { address, selected, origin };
}

/** Returns the rules of who may use a model; `undefined` for everybody. */
function conditionsOf({ spec, origin }: ModelManifest): ModelConditions | undefined {
  const rules = spec?.policies?.authorization;
  if (rules === undefined) return undefined;
  const place = childOf(origin, "spec", "policies");
  const value = validated(kubernetesRulesSchema, rules);
  const lowered = lowerKubernetesRules(value, childOf(place, "authorization"));
  return { matches: [], rules: lowered, origin: place };
}

function headersOf({
  spec,
  origin,
}: ModelManifest): Pick<BackendPolicies, "requestHeaders" | "responseHeaders"> {
  const { headers } = spec?.policies ?? {};
  const changes = (part: "request" | "response") => {
    const value: unknown = headers && Reflect.get(Object(headers), part);
    if (value === undefined) return undefined;
    const at = childOf(origin, "spec", "policies", "headers", part);
    return {
      ...readKubernetesHeaderChanges(validated(kubernetesHeaderChangesSchema, value), at),
      origin: at,
    };
  };
  const [requestHeaders, responseHeaders] = [changes("request"), changes("response")];
  return { ...(requestHeaders && { requestHeaders }), ...(responseHeaders && { responseHeaders }) };
}
