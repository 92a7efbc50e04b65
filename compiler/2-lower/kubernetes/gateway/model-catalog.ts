import type { GatewayResource } from "../../../config/resources.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import { CATALOG_ENTRY, type CatalogSource } from "../../../model/model-prices.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";

/**
 * Returns the prices of models of a Gateway: those of its own parameters, or else of its class's, in ConfigMaps of the
 * Gateway's namespace. Missing ConfigMaps are reported and left out.
 */
export function gatewayModelCatalog(
  { namespace }: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  { inventory, diagnostics }: Pick<PolicyContext, "inventory" | "diagnostics">,
): Pick<GatewayResource, "modelCatalog"> {
  const modelCatalog = lastOf(parameters, ({ modelCatalog: written, origin }) =>
    written?.sources.flatMap(({ configMap }, index): readonly CatalogSource[] => {
      const at = childOf(origin, "spec", "modelCatalog", "sources", index, "configMap");
      const { name, key = CATALOG_ENTRY } = configMap;
      const found = inventory.find("ConfigMap", namespace, name);
      const text = found?.spec?.texts[key];
      if (text !== undefined) return [{ catalog: { text }, origin: at }];
      const problem = found === undefined ? "it does not exist" : `it has no entry ${key}`;
      const file = `ConfigMap ${namespace}/${name}`;
      diagnostics.report("no-model-catalog", at, { file, problem });
      return [];
    }),
  );
  return modelCatalog === undefined ? {} : { modelCatalog };
}
