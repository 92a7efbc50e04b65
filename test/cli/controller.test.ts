import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { freePort } from "../harness/free-port.ts";
import { installedGwc } from "../harness/gwc.ts";
import { listen } from "../harness/listen.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const kubeconfig = `{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
  clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: a, user: {}}]}`;

it("a controller whose port is taken reports it and ends", async () => {
  const file = join(temporaryFolder(), "kubeconfig");
  writeFileSync(file, kubeconfig);
  const server = createServer();
  atEnd(() => server.close());
  const taken = await listen(server, "0.0.0.0");
  const ports = ["--health-port", String(await freePort()), "--metrics-port", String(taken)];
  const { code, stderr } = installedGwc(["controller", "--kubeconfig", file, ...ports]);
  expect(stderr).toContain(`error: cannot listen on port ${taken}: the port is in use`);
  expect(code).toBe(1);
});
