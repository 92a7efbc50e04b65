import { readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../../installation.ts";
import type { BundledCode } from "../../policies/custom/bundled-packages.ts";
import type { Bundle } from "../bundle.ts";

/**
 * Returns `gateway.cdx.json`: the bill of materials of a bundle, as CycloneDX 1.6. It has no time and no serial
 * number, so the same bundle always has the same one. `inModules`: packages whose code is part of modules of users.
 */
export function billOfMaterials(
  gateway: string,
  { packages: found }: Bundle,
  inModules: readonly BundledCode[],
  sha256: string,
  version: string,
): object {
  const ofModules = new Map(inModules.map((each) => [`${each.name}@${each.version}`, each]));
  const packages = [
    { isOwn: true, name: "gwc", version, licenses: [{ expression: "Apache-2.0" }] },
    ...found.map(({ name, folder }) => ({ isOwn: false, name, ...described(folder) })),
    ...[...ofModules.values()].map(({ name, version: number, license }) => ({
      ...{ isOwn: false, name, version: number, licenses: licensesOf(license) },
    })),
  ];
  const components = packages.map(({ isOwn, name, version: number, licenses }) => {
    // gwc is not in a registry: with a purl, a scanner would confuse it with another package.
    const purl = isOwn ? undefined : `pkg:npm/${name.replace("@", "%40")}@${number}`;
    const [group, own] = name.startsWith("@") ? name.split("/") : [undefined, name];
    return {
      type: "library",
      "bom-ref": purl ?? `${name}@${number}`,
      ...(group === undefined ? {} : { group }),
      name: own,
      version: number,
      licenses,
      ...(purl === undefined ? {} : { purl }),
    };
  });
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: { components: [{ type: "application", name: "gwc", version }] },
      component: {
        type: "application",
        "bom-ref": gateway,
        name: gateway,
        hashes: [{ alg: "SHA-256", content: sha256 }],
      },
    },
    components,
    dependencies: [
      { ref: gateway, dependsOn: components.map((each) => each["bom-ref"]) },
      ...components.map((each) => ({ ref: each["bom-ref"] })),
    ],
  };
}

/** Returns version and license from the package.json of a package. */
function described(folder: string): {
  readonly version: string;
  readonly licenses: readonly object[];
} {
  const file = path.join(packageRoot, folder, "package.json");
  const { version, license }: { readonly version?: unknown; readonly license?: unknown } =
    JSON.parse(readFileSync(file, "utf8"));
  return {
    version: String(version),
    licenses: licensesOf(license),
  };
}

function licensesOf(license: unknown): readonly object[] {
  return typeof license === "string" ? [{ expression: license }] : [];
}
