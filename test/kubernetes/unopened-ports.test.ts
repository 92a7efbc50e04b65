import { createServer, type Server } from "node:http";
import { expect, it } from "vitest";
import { unopenedPorts } from "../../compiler/controller/delivery/unopened-ports.ts";
import {
  withUnopened,
  withUnopenedPorts,
} from "../../compiler/controller/status/delivery-status.ts";
import { resourceTypes } from "../../runtime/discovery/resource-types.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { AgentWorld, type WorldGeneration } from "./agent-world.ts";

/** A generation with a listener of a tenant at another port, and a denied path. */
function generation(port: number, denied: string): WorldGeneration {
  const policy = {
    authorization: {
      action: "Deny",
      policy: { matchExpressions: [`request.path == "/a/${denied}"`] },
    },
  };
  const set = {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "ListenerSet" },
    metadata: { name: "x", namespace: "x" },
    spec: {
      parentRef: { name: "front", namespace: "default" },
      listeners: [
        { name: "x", port, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } },
      ],
    },
  };
  const route = {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" },
    metadata: { name: "x", namespace: "x" },
    spec: {
      parentRefs: [{ kind: "ListenerSet", group: "gateway.networking.k8s.io", name: "x" }],
      rules: [{ filters: [{ type: "RequestRedirect", requestRedirect: { statusCode: 302 } }] }],
    },
  };
  return { routes: { a: { text: "a", policy } }, objects: [set, route] };
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

async function answers(world: AgentWorld, ...paths: readonly string[]): Promise<number[]> {
  const found = paths.map((each) => send(`http://127.0.0.1:${world.port}${each}`, "GET"));
  return (await Promise.all(found)).map(({ status }) => status);
}

/** Returns the last report of a data plane about ports that it lacks. */
function lackingIn(world: AgentWorld): string | undefined {
  return world.said.findLast(({ type }) => type === resourceTypes.generation)?.lacking;
}

it.each([1, 2])("a port that is in use closes its listener alone (%s threads)", async (threads) => {
  const other = createServer((_, to) => to.end("other"));
  const port = await listen(other, "0.0.0.0");
  const workers = threads === 1 ? {} : { workerThreads: threads };
  const withThreads = (made: WorldGeneration) => ({ ...made, config: workers });
  const world = await AgentWorld.start(withThreads(generation(await freePort(), "first")));
  await world.startAgent(threads);
  expect(await answers(world, "/a/first", "/a/second")).toEqual([403, 200]);

  expect(await world.push(withThreads(generation(port, "second")))).toBe(undefined);
  expect(await answers(world, "/a/first", "/a/second")).toEqual([200, 403]);
  expect(unopenedPorts(JSON.parse(lackingIn(world) ?? ""))).toEqual([
    { port, problem: expect.stringMatching(`cannot listen on 0.0.0.0:${port} .*in use`) },
  ]);

  // Later changes do not wait for the port, which is opened once it is free.
  expect(await world.push(withThreads(generation(port, "third")))).toBe(undefined);
  expect(await answers(world, "/a/second", "/a/third")).toEqual([200, 403]);
  await closed(other);
  const redirect = () => send(`http://127.0.0.1:${port}/`, "GET").catch(() => ({ status: 0 }));
  await eventually(async () => ((await redirect()).status === 302 ? true : null), "the port");
  await eventually(() => (lackingIn(world) === undefined ? true : null), "what is lacking");
});

it("a data plane becomes ready without a port that is in use, and reports it after a restart", async () => {
  const other = createServer((_, to) => to.end("other"));
  const port = await listen(other, "0.0.0.0");
  const world = await AgentWorld.start(generation(port, "first"));
  const agent = await world.startAgent(1);
  expect(await world.readiness()).toBe(200);
  expect(await answers(world, "/a/first")).toEqual([403]);
  await agent.stop();
  await world.startAgent(1);
  expect(await world.readiness()).toBe(200);
  await eventually(() => (lackingIn(world)?.includes(String(port)) ? true : null), "the report");
  await closed(other);
});

const programmed = [{ type: "Programmed", status: "True", reason: "Programmed", message: "" }];
const accepted = [{ type: "Accepted", status: "True", reason: "Accepted", message: "" }];
const unopened = [{ port: 81, problem: "the port is in use" }];
const own = { status: "False", reason: "PortUnavailable", message: "the port is in use" };

it("the status of a listener says that data planes cannot open its port, and the others stay programmed", () => {
  const listeners = ["a", "b"].map((name) => ({ name, conditions: programmed }));
  const status = { conditions: [...accepted, ...programmed], listeners };
  const spec = {
    listeners: [
      { name: "a", port: 80 },
      { name: "b", port: 81 },
    ],
  };
  expect(withUnopened(status, unopened, spec)).toEqual({
    conditions: [
      { ...accepted[0], reason: "ListenersNotValid", message: "the port is in use" },
      ...programmed,
    ],
    listeners: [
      { name: "a", conditions: programmed },
      { name: "b", conditions: [{ ...programmed[0], ...own }] },
    ],
  });
  expect(withUnopened(status, [], spec)).toBe(status);
});

it("a route is not programmed if none of its ports can be opened", () => {
  const parent = { parentRef: { name: "g" }, conditions: accepted };
  const unopenedOf = (gateway: string) => (gateway === "default/g" ? unopened : []);
  const at = (...ports: readonly number[]) =>
    withUnopenedPorts(
      { parents: [parent] },
      ports.map((port) => ({ gateway: "default/g", port })),
      unopenedOf,
    );
  expect(at(81)).toEqual({
    parents: [{ ...parent, conditions: [...accepted, { type: "Programmed", ...own }] }],
  });
  for (const each of [at(80, 81), at(80), at()]) expect(each).toEqual({ parents: [parent] });
});

it("a ListenerSet none of whose ports can be opened is not programmed", () => {
  const listeners = [{ name: "b", conditions: programmed }];
  const spec = { listeners: [{ name: "b", port: 81 }] };
  expect(withUnopened({ conditions: programmed, listeners }, unopened, spec)).toEqual({
    conditions: [{ ...programmed[0], ...own }],
    listeners: [{ name: "b", conditions: [{ ...programmed[0], ...own }] }],
  });
});

it("what a caller says of ports is bounded, and anything else is ignored", () => {
  const many = Array.from({ length: 100 }, (_, port) => ({ port, problem: "x\n".repeat(500) }));
  const found = unopenedPorts(many);
  expect([found.length, found[0]?.problem.length]).toEqual([16, 200]);
  expect(found[0]?.problem).not.toContain("\n");
  for (const other of [undefined, 1, {}, [1], [{ port: "1", problem: "" }]])
    expect(unopenedPorts(other)).toEqual([]);
});
