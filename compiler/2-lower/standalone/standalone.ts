import type { StandaloneInput } from "../../1-parse/parse.ts";
import type { ModelCatalogValue } from "../../1-parse/standalone/model-catalog.ts";
import type { GatewayResource, Resource } from "../../config/resources.ts";
import { listenerTraffic, reportIdle } from "../../config/sections.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CatalogSource } from "../../model/model-prices.ts";
import { readAccessLogs, readLogLevels } from "./access-log.ts";
import { readAcme } from "./acme.ts";
import { readAdmin } from "./admin.ts";
import { frontendSections, processLabelSections, readFrontend } from "./frontend.ts";
import { readKeysApi } from "./keys-api.ts";
import { readProcess, reportAdminAddress, settleThreads } from "./process.ts";
import { lowerServed } from "./served.ts";
import { readStore } from "./store.ts";
import { readTracings } from "./tracing.ts";
import { readUsage } from "./usage.ts";

/**
 * Reads the resources of a standalone file and reports policies that are set twice. Parts with mistakes are
 * omitted, and their parents are marked as partial.
 */
export function lowerStandalone(
  { file, origin, broken }: StandaloneInput,
  diagnostics: Diagnostics,
): readonly Resource[] {
  const { listeners, routes, backends, sections } = lowerServed(
    file,
    { origin, broken },
    diagnostics,
  );
  const ofClients = listeners.flatMap((listener) => listenerTraffic(listener));
  for (const section of [
    ...frontendSections(file.frontendPolicies, childOf(origin, "frontendPolicies")),
    ...processLabelSections(file.config, origin),
  ])
    sections.meet(section, broken.length === 0 ? ofClients : undefined);
  for (const idle of sections.idle()) reportIdle(idle, diagnostics);
  reportAdminAddress(file.config, origin, diagnostics);
  const admin = readAdmin(file.config?.admin, childOf(origin, "config", "admin"));
  const gateway: GatewayResource = {
    kind: "gateway",
    process: {
      ...settleThreads(readProcess(file.config)),
      ...(admin !== undefined && { admin }),
    },
    frontend: readFrontend(file, origin),
    accessLogs: readAccessLogs(file.config?.logging, file.frontendPolicies, origin),
    tracing: readTracings(file, origin, diagnostics),
    logLevels: readLogLevels(file.config?.logging, childOf(origin, "config", "logging")),
    backends,
    listeners,
    workloadApi: file.config?.spiffe && {
      endpoint: file.config.spiffe.endpoint,
      origin: childOf(origin, "config", "spiffe"),
    },
    acme: readAcme(file.config?.acme, childOf(origin, "config", "acme")),
    store: readStore(file.config?.store, childOf(origin, "config", "store")),
    keysApi: readKeysApi(file.config?.keysApi, childOf(origin, "config", "keysApi")),
    usage: readUsage(file.config?.usage, childOf(origin, "config", "usage")),
    ...readModelCatalog(file.config?.modelCatalog, childOf(origin, "config", "modelCatalog")),
    origin,
  };
  return [gateway, ...routes];
}

/** Reads the sources of prices of models. */
function readModelCatalog(
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
