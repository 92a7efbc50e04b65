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

// The same as manifests, for clusters without Helm, which apply `crds` on their own. Needs Helm (HELM, else `helm`).
const folder = path.dirname(chart);
const NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: gwc-system\n";
try {
  writeFileSync(path.join(folder, "gwc.yaml"), `${NAMESPACE}${rendered()}`);
  // Documents of the webhook, which replace those of the same names.
  const without = new Set(rendered().split("---\n"));
  const added = rendered("--set", "webhook.enabled=true").split("---\n");
  const own = added.filter((document) => !without.has(document));
  writeFileSync(path.join(folder, "gwc-webhook.yaml"), `---\n${own.join("---\n")}`);
} catch (error) {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  process.stderr.write("helm is not installed: the manifests in out/helm are not rewritten\n");
}

function rendered(...options: readonly string[]): string {
  const argv = [
    ...["template", "gwc", chart, "--namespace", "gwc-system", ...options],
    ...["--kube-version", "1.35", "--set", "image.registry=REGISTRY"],
  ];
  const text = execFileSync(process.env.HELM ?? "helm", argv, {
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
  return text.replace(/^ +app\.kubernetes\.io\/managed-by: Helm\n/gm, "");
}
