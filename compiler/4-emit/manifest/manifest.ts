import { clientPorts } from "../../../templates/modules/client-ports.ts";
import type { Program } from "../../ir/program.ts";
import { gatewaySummary } from "./gateway-summary.ts";
import type { GatewaySummary } from "./manifest-schema.ts";

/**
 * Content of `manifest.json`: a description of a bundle for people who did not build it. `gwc diff` accepts it as a
 * side.
 */
export interface BundleManifest extends GatewaySummary {
  /** Version of gwc that built it. */
  readonly gwc: string;
  readonly gateway: string;
  readonly inputs: readonly { readonly name: string; readonly sha256: string }[];
  readonly ports: {
    readonly clients: readonly number[];
    /** `host:port` of metrics and of readiness. */
    readonly stats: string;
    readonly readiness: string;
  };
  readonly bundle: { readonly bytes: number; readonly sha256: string };
  /** Files that the build wrote, sorted; the next build removes those that it no longer writes. */
  readonly files: readonly string[];
}

/** Returns the manifest of a build. */
export function manifestOf(
  program: Program,
  bundle: BundleManifest["bundle"],
  files: readonly string[],
  version: string,
): BundleManifest {
  const { stats, readiness } = program.process.addresses;
  return {
    gwc: version,
    gateway: program.name,
    inputs: program.inputs,
    ...gatewaySummary(program),
    ports: { clients: clientPorts(program), stats, readiness },
    bundle,
    files: files.toSorted(),
  };
}
