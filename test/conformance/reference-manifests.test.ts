import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../harness/root.ts";
import { compareManifests } from "./reference-manifests.ts";

/** `controller/pkg/agentgateway` of a checkout of agentgateway 1.0.1 or 1.2.1: its files are no part of this project. */
const folder = process.env.GWC_REFERENCE_MANIFESTS;
/** The versions by how many of their manifests say conditions. */
const versions: ReadonlyMap<number, string> = new Map([
  [111, "1.0.1"],
  [176, "1.2.1"],
]);
const page = readFileSync(path.join(root, ".github/reference/compatibility.md"), "utf8");

function reasonsOf(version: string): Readonly<Record<string, string>> {
  const file = path.join(import.meta.dirname, `reference-differences-${version}.yaml`);
  return parse(readFileSync(file, "utf8"));
}

it.each([...versions.values()])(
  "every manifest of %s whose conditions are others has its reason in the documents",
  (version) => {
    for (const [file, reason] of Object.entries(reasonsOf(version)))
      expect(page).toContain(`| ${file} | ${reason} |`);
  },
);

it.skipIf(folder === undefined)(
  `the conditions of agentgateway's own manifests are the same, or the difference has its reason${folder === undefined ? " (needs GWC_REFERENCE_MANIFESTS)" : ""}`,
  () => {
    const compared = ["plugins/testdata", "translator/testdata"].flatMap((each) =>
      compareManifests(path.join(folder ?? "", each)),
    );
    const version = versions.get(compared.length);
    expect(version).toBeDefined();
    const different = compared.filter(({ differences }) => differences.length > 0);
    expect(different.map(({ name }) => name).toSorted()).toEqual(
      Object.keys(reasonsOf(version ?? "")).toSorted(),
    );
  },
);
