import {
  inlineFunctions,
  readCustomFunctions,
  uncalledFunctions,
} from "../cel/custom-functions.ts";
import type { CustomFunctionsConfig, GatewayResources, Resource } from "../config/resources.ts";
import { type Diagnostics, placeKey } from "../diagnostics/diagnostic.ts";
import type { InlinedPlaces } from "../diagnostics/inlined-places.ts";
import { mapExpressions } from "../model/mapped-expressions.ts";

/** Functions of Gateways, whose calls become the bodies of the functions in what a Gateway serves. */
export class GatewayFunctions {
  readonly #inlined: InlinedPlaces[] = [];
  readonly #uses = new Map<
    string,
    { readonly config: CustomFunctionsConfig; called: Set<string> }
  >();

  /** Returns the resources of a Gateway without calls of its functions; mistakes in calls are reported. */
  without(given: GatewayResources, diagnostics: Diagnostics): GatewayResources {
    const config = given.resources.flatMap((each) =>
      each.kind === "gateway" ? (each.customFunctions ?? []) : [],
    )[0];
    if (config === undefined) return given;
    const { text: definitions, origin } = config;
    const { functions } = readCustomFunctions(definitions);
    const use = this.#uses.get(placeKey(origin)) ?? { config, called: new Set<string>() };
    this.#uses.set(placeKey(origin), use);
    const keys = new Set<string>();
    const resources = mapExpressions<readonly Resource[]>(given.resources, (text, at) => {
      const { text: inlined, called, problems } = inlineFunctions(text, functions);
      for (const { problem, within } of problems)
        diagnostics.report("bad-function-call", { ...at, within }, { problem });
      for (const name of called) use.called.add(name);
      if (inlined !== text) keys.add(placeKey(at));
      return inlined;
    });
    this.#inlined.push({ keys, definitions: origin });
    return { ...given, resources };
  }

  /** Reports functions that no Gateway calls. Returns the places of expressions that called some. */
  finish(diagnostics: Diagnostics): readonly InlinedPlaces[] {
    for (const { config, called } of this.#uses.values()) {
      const { functions } = readCustomFunctions(config.text);
      for (const { name, nameSpan: within } of uncalledFunctions(functions, called))
        diagnostics.report("uncalled-function", { ...config.origin, within }, { name });
    }
    return this.#inlined;
  }
}
