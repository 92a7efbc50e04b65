import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { shopManifests } from "../harness/shop-manifests.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

const CLOSED = 'request.path.startsWith("/shop/")';
const OPEN = 'request.path.startsWith("/")';

/** A repository whose main branch has these files, and whose working folder has one of them with the open rule. */
function repository(files: Readonly<Record<string, string>>, changed: string): Workspace {
  const made = new Workspace(files);
  const git = (...argv: readonly string[]) =>
    execFileSync(program("git"), ["-c", "user.name=a", "-c", "user.email=a@example.com", ...argv], {
      cwd: made.folder,
    });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "base");
  made.write(changed, (files[changed] ?? "").replace(CLOSED, OPEN));
  return made;
}

/** Annotations of what opens, when a command renders both revisions. */
async function annotations({ folder }: Workspace, render: string): Promise<readonly string[]> {
  const argv = ["diff", "--git", "main", "--render", render, "--format", "github"];
  const { stdout, stderr } = await gwc(argv, { cwd: folder });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line.includes("OPENS::"));
}

it("a patch of a Kustomize overlay that opens access is annotated at its line", async () => {
  const overlay = `resources: [../../base]
namespace: prod
patches: [{ path: rules.yaml, target: { kind: GatewayPolicy } }]
`;
  const patch = `- op: replace
  path: /spec/traffic/authorization/policy/matchExpressions/0
  value: ${CLOSED}
`;
  const files = {
    "base/all.yaml": shopManifests('request.path == "/never"'),
    "base/kustomization.yaml": "resources: [all.yaml]\n",
    "overlays/prod/kustomization.yaml": overlay,
    "overlays/prod/rules.yaml": patch,
  };
  const made = repository(files, "overlays/prod/rules.yaml");
  const [found, ...more] = await annotations(made, `${program("kustomize")} build overlays/prod`);
  expect(more).toEqual([]);
  expect(found).toContain("file=overlays/prod/rules.yaml,line=3,");
  expect(found).toContain("route prod/shop");
});

it("a value of a Helm chart that opens access is annotated at its line", async () => {
  const files = {
    "shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "shop/templates/all.yaml": shopManifests("{{ .Values.rule }}"),
    "shop/values.yaml": "rule: request.method == 'GET'\n",
    "prod.yaml": `# of production\nrule: ${CLOSED}\n`,
  };
  const made = repository(files, "prod.yaml");
  const render = `${program("helm")} template shop shop -f prod.yaml`;
  const [found, ...more] = await annotations(made, render);
  expect(more).toEqual([]);
  expect(found).toContain("file=prod.yaml,line=2,");
});
