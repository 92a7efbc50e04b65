import { execFileSync } from "node:child_process";
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

// The same as manifests, for who has no Helm: it writes them where it is at hand (HELM, else `helm`).
const argv = [
  ...["template", "gwc", chart, "--namespace", "gwc-system", "--include-crds"],
  ...["--kube-version", "1.35", "--set", "image.registry=REGISTRY"],
];
const namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: gwc-system\n";
try {
  const rendered = execFileSync(process.env.HELM ?? "helm", argv, { encoding: "utf8" });
  const manifests = rendered.replace(/^ +app\.kubernetes\.io\/managed-by: Helm\n/gm, "");
  writeFileSync(path.join(path.dirname(chart), "gwc.yaml"), `${namespace}${manifests}`);
} catch (error) {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  process.stderr.write("out/helm/gwc.yaml stays as it is: there is no helm here\n");
}
