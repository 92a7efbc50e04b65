import { readFileSync } from "node:fs";
import path from "node:path";
import { it } from "vitest";
import { root } from "../harness/root.ts";
import { compareWhileEditing } from "./random-edits.ts";

/** Number of edits of each input. */
const EDITS = process.env.GWC_LONG_TESTS === "1" ? 1000 : 60;

const example = (name: string) => readFileSync(path.join(root, "examples", name), "utf8");

it(`after ${EDITS} random edits of a file, its tests and its keys, the server shows what new checks report`, async () => {
  const names = ["gateway.yaml", "access.test.yaml", "jwks.json"];
  const inputs = Object.fromEntries(names.map((name) => [name, example(`authorization/${name}`)]));
  await compareWhileEditing(inputs, "gateway.yaml", 1, EDITS);
}, 3_600_000);

it(`after ${EDITS} random edits of a file with many routes, the server shows what a new gwc check reports`, async () => {
  await compareWhileEditing(
    { "gateway.yaml": example("traffic/gateway.yaml") },
    "gateway.yaml",
    3,
    EDITS,
  );
}, 3_600_000);

it(`after ${EDITS} random edits of manifests, the server shows what a new gwc check reports`, async () => {
  const [proxy = "", route = "", ...others] = example("cluster-mcp/gateway.yaml").split("---\n");
  const inputs = {
    "k8s/gateway.yaml": proxy,
    "k8s/route.yaml": route,
    "k8s/others.yaml": others.join("---\n"),
  };
  await compareWhileEditing(inputs, "k8s", 2, EDITS);
}, 3_600_000);
