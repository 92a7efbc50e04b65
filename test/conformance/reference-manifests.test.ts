import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../harness/root.ts";
import { compareManifests } from "./reference-manifests.ts";

/** `controller/pkg/agentgateway` of a checkout of agentgateway 1.0.1: its files are no part of this project. */
const folder = process.env.GWC_REFERENCE_MANIFESTS;
const reasons: Readonly<Record<string, string>> = parse(
  readFileSync(path.join(import.meta.dirname, "reference-differences.yaml"), "utf8"),
);
const page = readFileSync(path.join(root, ".github/reference/compatibility.md"), "utf8");

it("every manifest whose conditions are others has its reason in the documents", () => {
  for (const [file, reason] of Object.entries(reasons))
    expect(page).toContain(`${file} | ${reason}`);
});

it.skipIf(folder === undefined)(
  `the conditions of agentgateway's own manifests are the same, or the difference has its reason${folder === undefined ? " (needs GWC_REFERENCE_MANIFESTS)" : ""}`,
  () => {
    const compared = ["plugins/testdata", "translator/testdata"].flatMap((each) =>
      compareManifests(path.join(folder ?? "", each)),
    );
    expect(compared.length).toBe(111);
    const different = compared.filter(({ differences }) => differences.length > 0);
    expect(different.map(({ name }) => name).toSorted()).toEqual(Object.keys(reasons).toSorted());
  },
);
