import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { compareManifests } from "./compared-manifests.ts";
import { type MeasuredFile, measureFolder } from "./measured-files.ts";
import {
  lastMeasurement,
  MEASURED_FILE,
  type MeasuredPart,
  type MeasuredRelease,
  type Measurement,
} from "./page.ts";

/**
 * `measure.ts FOLDER...` prints which configurations below the folders are accepted, and why the others are not. With
 * `--checkout CHECKOUT` first, files that they refer to may also be in a checkout of agentgateway.
 * `measure.ts --write RELEASE=CHECKOUT...` records the results for checkouts of agentgateway, which `npm run docs` prints.
 * `measure.ts --write-snippets CHECKOUT WEBSITE` records those for a checkout of its website.
 */
const [first = "", ...rest] = process.argv.slice(2);
if (first === "--write") {
  const releases = rest.map((each) => measuredRelease(...pairOf(each)));
  record({ ...lastMeasurement(), releases });
} else if (first === "--write-snippets") {
  const [checkout = "", website = ""] = rest;
  record({ ...lastMeasurement(), snippets: measuredDocuments(checkout, website) });
} else if (first === "--checkout") {
  const [checkout = "", ...folders] = rest;
  for (const folder of folders) printFolder(folder, checkout);
} else for (const folder of [first, ...rest]) printFolder(folder);

function record(measurement: Measurement): void {
  writeFileSync(MEASURED_FILE, `${JSON.stringify(measurement, null, 2)}\n`);
}

/** Measures the documents of the current release; those of others have its version in their names. */
function measuredDocuments(checkout: string, website: string): MeasuredPart {
  const measured = ["content/docs/standalone/latest", "assets/agw-docs"]
    .flatMap((inside) => measureFolder(website, { inside, checkout }))
    .filter(({ kind, name }) => kind === "standalone" && !/-\d\dx\.md:/.test(name));
  const different = measured.filter(({ errors }) => errors.length > 0);
  return { total: measured.length, different: different.map(({ name }) => name) };
}

function pairOf(argument: string): readonly [release: string, checkout: string] {
  const at = argument.indexOf("=");
  return [argument.slice(0, at), argument.slice(at + 1)];
}

function measuredRelease(release: string, checkout: string): MeasuredRelease {
  const examples = measureFolder(checkout, { inside: "examples" }).filter(isExample);
  const tests = path.join(checkout, "controller/pkg/agentgateway");
  const manifests = ["plugins/testdata", "translator/testdata"]
    .map((each) => path.join(tests, each))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => compareManifests(folder));
  const different = manifests.filter(({ differences }) => differences.length > 0);
  return {
    release,
    examples: {
      total: examples.length,
      different: examples.filter(({ errors }) => errors.length > 0).map(({ name }) => name),
    },
    manifests: { total: manifests.length, different: different.map(({ name }) => name) },
  };
}

function isExample({ kind, name }: MeasuredFile): boolean {
  return kind === "standalone" && !name.includes(".md:");
}

function printFolder(folder: string, checkout?: string): void {
  const files = measureFolder(folder, { checkout });
  for (const kind of ["standalone", "manifest"] as const) {
    const measured = files.filter((each) => each.kind === kind);
    if (measured.length === 0) continue;
    const refused = measured.filter(({ errors }) => errors.length > 0);
    const accepted = measured.length - refused.length;
    console.log(`${folder}: ${accepted} of ${measured.length} ${kind} files are accepted`);
    for (const { name, errors } of refused)
      console.log(`  ${name}\n${errors.map((error) => `    ${error}`).join("\n")}`);
  }
}
