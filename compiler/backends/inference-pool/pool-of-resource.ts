import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { InferencePoolSpec } from "../../manifests/inference.ts";
import type { Manifest, ManifestOf } from "../../manifests/manifests.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import { hostAndPort } from "../../model/host-url.ts";
import type { ResourceContext } from "../backend.ts";
import { destinationOf } from "../parts/callout-server.ts";
import type { InferencePoolConfig } from "./inference-pool-config.ts";

/**
 * Reads an InferencePool. Its endpoints are its pods if the context can resolve them, or else the addresses of a
 * headless Service with the same selector.
 */
export function poolOf(
  manifest: Manifest,
  context: ResourceContext,
): InferencePoolConfig | undefined {
  if (manifest.kind !== "InferencePool" || manifest.spec === undefined) return undefined;
  const { spec } = manifest;
  const origin = childOf(manifest.origin, "spec");
  const host = context.podsHost?.(manifest) ?? headlessHost(manifest, spec, context);
  const [first, second] = spec.targetPorts ?? [];
  const port = first?.number ?? spec.targetPortNumber;
  if (second !== undefined && context.podsHost === undefined) {
    const params = { what: "such pools", field: "a pool whose pods have several ports" };
    context.diagnostics.report("not-built-yet", childOf(origin, "targetPorts"), params);
  }
  const picker = pickerOf(spec, origin, context);
  if (host === undefined || port === undefined || picker === undefined) return undefined;
  const { failureMode } = spec.endpointPickerRef ?? spec.extensionRef ?? {};
  return {
    address: hostAndPort(host, port),
    picker,
    passesOnFailure: failureMode === "FailOpen",
    takesAnyEndpoint: false,
  };
}

/** Returns the name of the headless Service of the pool's pods; `undefined` if no Service matches (reported). */
function headlessHost(
  manifest: ManifestOf<"InferencePool">,
  { selector }: InferencePoolSpec,
  { diagnostics, servicesIn, nameOf, hostOf }: ResourceContext,
): string | undefined {
  const labels = Object.entries(podLabels(selector));
  const found = servicesIn(manifest.namespace).find(({ spec }) => {
    const own = Object.entries(spec?.selector ?? {});
    return (
      spec?.clusterIP === "None" &&
      own.length === labels.length &&
      labels.every(([name, value]) => own.some(([key, wanted]) => key === name && wanted === value))
    );
  });
  if (found === undefined) {
    const params = {
      pool: nameOf(manifest),
      selector: labels.map(([name, value]) => `${name}: ${value}`).join(", "),
    };
    diagnostics.report(
      "pool-without-service",
      childOf(manifest.origin, "spec", "selector"),
      params,
    );
  }
  return found && hostOf(found);
}

/** Returns the labels of the pods, in either version of the API. */
function podLabels(selector: InferencePoolSpec["selector"]): Readonly<Record<string, string>> {
  const { matchLabels } = selector;
  if (typeof matchLabels === "object") return matchLabels;
  const texts = Object.entries(selector).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}

/** Default port of pickers (v1alpha2). */
const PICKER_PORT = 9002;

function pickerOf(
  { endpointPickerRef, extensionRef }: InferencePoolSpec,
  origin: Origin,
  { server }: ResourceContext,
): DestinationConfig | undefined {
  const at = childOf(
    origin,
    endpointPickerRef === undefined ? "extensionRef" : "endpointPickerRef",
  );
  const reference = endpointPickerRef ?? extensionRef;
  if (reference === undefined) return undefined;
  const { group = "", kind = "Service", name } = reference;
  const port = endpointPickerRef?.port?.number ?? extensionRef?.portNumber ?? PICKER_PORT;
  const found = server({ group, kind, name, port }, at);
  return found && destinationOf(found, at);
}
