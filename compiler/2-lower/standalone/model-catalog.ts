import type { ModelCatalogValue } from "../../1-parse/standalone/model-catalog.ts";
import type { GatewayResource } from "../../config/resources.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CatalogSource } from "../../model/model-prices.ts";

/** Reads the sources of prices of models. */
export function readModelCatalog(
  value: ModelCatalogValue | undefined,
  origin: Origin,
): Pick<GatewayResource, "modelCatalog"> {
  if (value === undefined) return {};
  const modelCatalog = value.map(({ file, inline }, index): CatalogSource => {
    const at = childOf(origin, index, file === undefined ? "inline" : "file");
    if (file !== undefined) return { catalog: { file }, origin: at };
    if (typeof inline === "string") return { catalog: { text: inline }, origin: at };
    return { catalog: { value: inline }, origin: at };
  });
  return { modelCatalog };
}
