import path from "node:path";
import { expect, it } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { checkFiles, emitProgram } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { freePort } from "../harness/free-port.ts";
import { Gateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A gateway of manifests with mistakes, as a controller serves it: what has some is left out. */
async function startIsolated(manifests: string): Promise<Gateway> {
  const options = { name: "test", isStrict: false, isIsolating: true };
  const checked = checkFiles(["a.yaml"], memoryHost({ "a.yaml": manifests }), options);
  if (checked.program === undefined) throw new Error("nothing is left of the gateway");
  const { files } = await emitProgram(checked.program, checked.files, {
    trace: "path",
    isTypeChecked: false,
    version: "test",
    progress: () => {},
  });
  const folder = temporaryFolder();
  writeFiles(folder, files);
  return new Gateway(path.join(folder, "gateway.mjs"), folder, {}).listening();
}

it("of several backends those that are missing get their share refused, and the others theirs served", async () => {
  const upstream = await startScripted((response) => response.end("served"));
  const [host, port] = upstream.host.split(":");
  const backend = "{group: gwc.dev, kind: GatewayBackend, name: one, weight: 1}";
  const rule = (value: string, ...backendRefs: readonly string[]) =>
    `{matches: [{path: {value: ${value}}}], backendRefs: [${backendRefs.join(", ")}]}`;
  const gateway = await startIsolated(
    [
      `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: one}, spec: {static: {host: ${host}, port: ${port}}}}`,
      `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [${[
        rule("/half", backend, "{name: nothing, port: 80, weight: 1}"),
        rule("/none", backend, "{name: nothing, port: 80, weight: 0}"),
        rule("/alone", "{name: nothing, port: 80}"),
        rule("/both", "{name: nothing, port: 80}", "{name: neither, port: 80}"),
      ].join(", ")}]}}`,
    ].join("\n---\n"),
  );
  const ask = async (target: string) => (await send(`${gateway.url}${target}`, "GET")).status;
  const half = await Promise.all(Array.from({ length: 200 }, () => ask("/half")));
  expect(new Set(half)).toEqual(new Set([200, 500]));
  const served = half.filter((status) => status === 200).length;
  expect(served).toBeGreaterThan(50);
  expect(served).toBeLessThan(150);
  const all = await Promise.all(Array.from({ length: 20 }, () => ask("/none")));
  expect(new Set(all)).toEqual(new Set([200]));
  expect(await ask("/alone")).toBe(500);
  expect(await ask("/both")).toBe(500);
});
