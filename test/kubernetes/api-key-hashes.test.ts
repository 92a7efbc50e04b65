import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { gatewayManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

const hashOf = (key: string) => `sha256:${createHash("sha256").update(key).digest("hex")}`;

/** A route whose keys are in the ConfigMaps with the label `keys: yes`. */
function keyed(port: number, entries: Readonly<Record<string, object | string>>, to = 80): string {
  const data = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [
      name,
      typeof entry === "string" ? entry : JSON.stringify(entry),
    ]),
  );
  const map = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "k", labels: { keys: "yes" } },
  };
  return `${gatewayManifest(port)}
${JSON.stringify({ ...map, data })}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: {static: {host: 127.0.0.1, port: ${to}}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}
---
{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {apiKeyAuthentication: {configMapSelector: {matchLabels: {keys: "yes"}}}, authorization: {policy: {matchExpressions: ['apiKey.group == "sales"']}}}}}`;
}

it("keys in ConfigMaps are digests, with attributes of their holders", async () => {
  const upstream = await startScripted((response) => response.end("ok"));
  const entries = {
    ann: { keyHash: hashOf("k-ann"), metadata: { group: "sales" } },
    ben: { keyHash: hashOf("k-ben"), metadata: { group: "support" } },
  };
  const port = Number(upstream.host.split(":")[1]);
  const gateway = await startGateway({ config: keyed(await freePort(), entries, port) });
  const statusOf = async (key: string) =>
    (await send(`${gateway.url}/`, "GET", { authorization: `Bearer ${key}` })).status;
  expect(await Promise.all(["k-ann", "k-ben", "k-eve"].map(statusOf))).toEqual([200, 403, 401]);
});

it.each([
  ["the key itself", "k-ann"],
  ["a key in an entry", { key: "k-ann" }],
])("%s does not belong in a ConfigMap and admits nobody", (_, entry) => {
  const said = complaints(checkManifests(keyed(80, { ann: entry }))).join();
  expect(said).toContain('"ann" of ConfigMap "k" has no "keyHash"');
  expect(said).not.toContain("k-ann");
});

it("a selector without ConfigMaps is reported", () => {
  const text = keyed(80, {}).replace('labels":{"keys":"yes"}', 'labels":{}');
  expect(complaints(checkManifests(text)).join()).toContain("no ConfigMap of the namespace");
});
