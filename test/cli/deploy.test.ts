import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { guidesFolder } from "../../compiler/installation.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const guide = readFileSync(path.join(guidesFolder, "deploy.md"), "utf8");

/** Returns the example of a language that starts with a line. */
function example(language: string, start: string): string {
  const blocks = [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  const [, , text = ""] =
    blocks.find(([, lang, code]) => lang === language && code?.startsWith(start)) ?? [];
  return text;
}

describe("the guide about deployments", () => {
  it("has a unit that systemd accepts", () => {
    const text = example("ini", "[Unit]")
      .replaceAll("/usr/bin/node", process.execPath)
      // systemd resolves neither on the machine of a test.
      .replace(/^EnvironmentFile=.*\n/m, "")
      .replace(/^Wants=.*\n/m, "");
    const folder = temporaryFolder({ "gateway.service": text });
    const file = path.join(folder, "gateway.service");
    const output = execFileSync(program("systemd-analyze"), ["verify", "--man=no", file], {
      encoding: "utf8",
      stdio: "pipe",
    });
    expect(output).not.toContain("gateway.service");
  });

  it("has a Compose service with a read-only root and no capability", () => {
    const { gateway } = parse(example("yaml", "services:")).services;
    expect(gateway).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"] });
    const mounted = gateway.volumes.map((each: string) => each.split(":")[1]);
    expect(mounted).toEqual([
      gateway.environment.GWC_STATE_DIR,
      gateway.environment.GWC_CONFIG_DIR,
    ]);
  });

  it("has a Deployment whose containers are restricted and share an image, and a Service of its port", () => {
    const documents = parseAllDocuments(example("yaml", "apiVersion: apps"));
    const [deployment, service] = documents.map((each) => each.toJS());
    const { spec, metadata } = deployment.spec.template;
    const all = [...spec.initContainers, ...spec.containers];
    for (const { securityContext, image } of all) {
      expect(securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      });
      expect(image).toBe(all[0].image);
    }
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10101 });
    expect(metadata.labels).toMatchObject(service.spec.selector);
    const names = spec.containers[0].ports.map(({ name }: { name: string }) => name);
    expect(names).toContain(service.spec.ports[0].targetPort);
  });
});
