import { parse } from "yaml";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import type { GatewayResource, RouteResource } from "../config/resources.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import {
  type CatalogSource,
  type ModelPrices,
  mergeModelPrices,
  readModelPrices,
} from "../model/model-prices.ts";
import { asksModels } from "./backends.ts";

/** Reads the prices of models; invalid catalogs are reported and left out. `undefined` if there are none. */
export function resolveModelCatalog(
  sources: readonly CatalogSource[] | undefined,
  context: ConnectionContext,
): ModelPrices | undefined {
  if (sources === undefined) return undefined;
  const read = sources.map((source) => readSource(source, context));
  return mergeModelPrices(read.filter((each) => each !== undefined));
}

/** Reports prices that no backend uses. */
export function reportIdleCatalog(
  { modelCatalog, origin: whole }: GatewayResource,
  routes: readonly RouteResource[],
  diagnostics: Diagnostics,
): void {
  if (modelCatalog === undefined) return;
  // Backends with mistakes are omitted from the program, but they would use the prices.
  if (routes.some(({ backends }) => asksModels(backends))) return;
  const { path, ...origin } = modelCatalog[0]?.origin ?? whole;
  const at = keyPlace({ ...origin, path: path.slice(0, path.indexOf("modelCatalog") + 1) });
  const params = { field: "modelCatalog", actsOn: "requests to models" };
  diagnostics.report("idle-model-field", at, params);
}

function readSource(
  { catalog, origin }: CatalogSource,
  { host, diagnostics, resolvePath }: ConnectionContext,
): ModelPrices | undefined {
  if ("file" in catalog) {
    const path = resolvePath(catalog.file, origin);
    const read = host.readText(path);
    if (read.kind === "text") return pricesOf(read.text);
    diagnostics.report("no-model-catalog", origin, { file: catalog.file, problem: read.problem });
    return undefined;
  }
  return "text" in catalog ? pricesOf(catalog.text) : checked(catalog.value);

  function pricesOf(text: string): ModelPrices | undefined {
    const value = yamlValue(text);
    return value === undefined ? refused("it is neither JSON nor YAML") : checked(value);
  }

  function checked(value: unknown): ModelPrices | undefined {
    const found = readModelPrices(value);
    if (typeof found === "string") return refused(found);
    return found;
  }

  function refused(problem: string): undefined {
    diagnostics.report("bad-model-catalog", origin, { problem });
  }
}

/** Parses YAML, of which JSON is a part; returns `undefined` if it is invalid. */
function yamlValue(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
