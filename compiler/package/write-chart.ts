import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { definitionsText } from "../commands/schema.ts";

const root = path.resolve(import.meta.dirname, "..", "..");
const chart = path.join(root, "out", "helm", "gwc");

// `npm run helm`: the chart, with the definitions of the custom resources that its controller reads.
rmSync(chart, { recursive: true, force: true });
cpSync(path.join(root, "templates", "helm", "gwc"), chart, { recursive: true });
mkdirSync(path.join(chart, "crds"));
writeFileSync(path.join(chart, "crds", "gwc.dev.yaml"), await definitionsText());
