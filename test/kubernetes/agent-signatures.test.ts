import { generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { codeResources } from "../../compiler/controller/delivery/gateway-resources.ts";
import { type Signer, signerOf } from "../../compiler/controller/delivery/signing-key.ts";
import { CompileChanges } from "../../compiler/controller/model/compile-changes.ts";
import { compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { DiscoveryServer, type Settled } from "../../runtime/discovery/discovery-server.ts";
import { type ResourceSet, resourceTypes } from "../../runtime/discovery/resource-types.ts";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { Workspace } from "../harness/workspace.ts";

const newSigner = (): Signer => {
  const { privateKey } = generateKeyPairSync("ed25519");
  return signerOf(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
};

/** A Gateway whose one route answers with this text. */
function gateway(name: string, ports: readonly number[], text: string): Record<string, string> {
  const [port, stats, ready] = ports;
  const object = (kind: string, apiVersion: string, rest: object) =>
    JSON.stringify({ apiVersion, kind, ...rest });
  const api = "gateway.networking.k8s.io/v1";
  const metadata = { name, namespace: "default" };
  const parametersRef = { group: "gwc.dev", kind: "GatewayParameters", name };
  const listeners = [{ name: "http", port, protocol: "HTTP" }];
  const config = { statsAddr: `127.0.0.1:${stats}`, readinessAddr: `127.0.0.1:${ready}` };
  const directResponse = { status: 200, body: text };
  const targetRefs = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name }];
  return {
    "/1": object("GatewayClass", api, {
      metadata: { name: "gwc" },
      spec: { controllerName: "gwc.dev/gateway" },
    }),
    "/2": object("Gateway", api, {
      metadata,
      spec: { gatewayClassName: "gwc", infrastructure: { parametersRef }, listeners },
    }),
    "/3": object("GatewayParameters", "gwc.dev/v1alpha1", {
      metadata,
      spec: { rawConfig: { config } },
    }),
    "/4": object("HTTPRoute", api, { metadata, spec: { parentRefs: [{ name }], rules: [{}] } }),
    "/5": object("GatewayPolicy", "gwc.dev/v1alpha1", {
      metadata,
      spec: { targetRefs, traffic: { directResponse } },
    }),
  };
}

it("a data plane runs code of its own controller for its own Gateway, and nothing else", async () => {
  const ports = await freePorts(3);
  const own = newSigner();
  const sets = (name: string, text: string, signer: Signer) => {
    const compiled = compileFiles(gateway(name, ports, text), undefined);
    const [found] = new CompileChanges().of(compiled).gateways;
    if (found === undefined) throw new Error(JSON.stringify(compiled.statuses));
    return codeResources(found, resourceTypes, signer, undefined).sets;
  };
  let current: ReadonlyMap<string, ResourceSet> = sets("front", "first", own);
  const said: Settled[] = [];
  const server = await DiscoveryServer.open({
    ...{ host: "127.0.0.1", port: 0 },
    authorize: () => Promise.resolve(),
    resources: (_, type) => current.get(type) ?? new Map(),
    settled: (settled) => said.push(settled),
    connected: () => {},
  });
  atEnd(() => server.close());
  const folder = temporaryFolder();
  const env = {
    XDS_ADDRESS: `http://127.0.0.1:${server.port}`,
    XDS_TOKEN_FILE: new Workspace({ token: "any" }).path("token"),
    ...{ NAMESPACE: "default", GATEWAY: "front", GWC_AGENT_DIR: folder },
  };
  const agent = new GwcProcess(["agent"], { env: { ...env, GWC_SIGNER: own.publicKey } });
  await agent.seen(/serving generation/);
  const body = async () => (await send(`http://127.0.0.1:${ports[0]}/`, "GET")).body;
  expect(await body()).toBe("first");
  /** Sends something else instead, and waits for what the data plane says of it. */
  const refused = (next: ReadonlyMap<string, ResourceSet>): Promise<string> => {
    said.length = 0;
    current = next;
    server.push("default/front");
    return eventually(() => said.find(({ problem }) => problem)?.problem ?? null, "a refusal");
  };
  expect(await refused(sets("front", "second", newSigner()))).toBe(
    "the generation is not signed by the controller of this pod",
  );
  // Later data is sent completely: each generation is sent by its version.
  expect(await refused(renamed(sets("other", "third", own)))).toBe(
    "the generation belongs to default/other",
  );
  const later: Signer = {
    ...own,
    signed: (text) => own.signed(text.replace(/"runtime":"\w+"/, '"runtime":"later"')),
  };
  expect(await refused(sets("front", "of another release", later))).toMatch(
    /^the generation is for another release of gwc \(.+, runtime later\) than this pod's \(runtime \w{12}\)$/,
  );
  const forged = new Map(sets("front", "fourth", own));
  forged.set(resourceTypes.module, forgedModules(forged.get(resourceTypes.module)));
  expect(await refused(forged)).toMatch(/a module does not match its digest \w+/);
  expect(await body()).toBe("first");
  // Code of the disk has to be signed, too.
  await agent.stop("SIGKILL");
  const other = newSigner();
  const restarted = new GwcProcess(["agent"], {
    env: { ...env, GWC_SIGNER: other.publicKey, XDS_ADDRESS: "http://127.0.0.1:1" },
  });
  await restarted.seen(/cannot be served: .*not signed by the controller/);
});

/** The resources of one Gateway under the name of another. */
function renamed(sets: ReadonlyMap<string, ResourceSet>): ReadonlyMap<string, ResourceSet> {
  const [generation] = sets.get(resourceTypes.generation)?.values() ?? [];
  if (generation === undefined) throw new Error("no generation");
  return new Map(sets).set(resourceTypes.generation, new Map([["default/front", generation]]));
}

function forgedModules(modules: ResourceSet | undefined): ResourceSet {
  const all = [...(modules ?? [])];
  return new Map(
    all.map(([name, { version, value }]) => [
      name,
      { version, value: Buffer.concat([value, Buffer.from("// more\n")]) },
    ]),
  );
}
