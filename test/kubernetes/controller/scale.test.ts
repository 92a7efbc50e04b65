import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { expect } from "vitest";
import { eventually } from "../../harness/eventually.ts";
import { FrontGateway } from "../../harness/front-gateway.ts";
import { GwcProcess } from "../../harness/gwc.ts";
import type { TestObject } from "../../harness/kubernetes-api.ts";
import { listen } from "../../harness/listen.ts";
import { pause } from "../../harness/pause.ts";
import { missingPods, podAddress } from "../../harness/pod-address.ts";
import { send } from "../../harness/send.ts";
import { itUnless, NOT_LONG } from "../../harness/skip.ts";

const missing = NOT_LONG ?? missingPods();
const [ROUTES, SERVICES, ENDPOINTS] = [5_000, 1_000, 10];
/** Changes of one route, one after the other. */
const CHANGES = 10;
const MEGABYTES = 600;

/** Seconds within which a change is to be in data planes: a machine with nothing else to do takes far less. */
const LONGEST = 60;

const gatewayApi = "gateway.networking.k8s.io/v1";

function route(index: number, path: string, service = `s${index % SERVICES}`): TestObject {
  return {
    ...{ apiVersion: gatewayApi, kind: "HTTPRoute" },
    metadata: { name: `r${index}`, namespace: "default" },
    spec: {
      parentRefs: [{ name: "front" }],
      hostnames: [`h${index}.example.com`],
      rules: [
        {
          matches: [{ path: { value: path } }],
          backendRefs: [{ name: service, port: 80 }],
        },
      ],
    },
  };
}

/** The pods of the one Service that is called. */
function liveSlice(port: number): TestObject {
  const labels = { "kubernetes.io/service-name": "live" };
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
    metadata: { name: "live", namespace: "default", labels },
    endpoints: [{ addresses: [podAddress] }],
    ports: [{ name: "", port }],
  };
}

function* objects(): Iterable<TestObject> {
  const live = { name: "live", namespace: "default" };
  yield { apiVersion: "v1", kind: "Service", metadata: live, spec: { ports: [{ port: 80 }] } };
  for (let index = 0; index < SERVICES; index += 1) {
    const metadata = { name: `s${index}`, namespace: "default" };
    const ports = [{ name: "http", port: 80, targetPort: 8080 }];
    yield { apiVersion: "v1", kind: "Service", metadata, spec: { ports } };
    const addresses = Array.from({ length: ENDPOINTS }, (_, each) => each + index * ENDPOINTS);
    yield {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": `s${index}` } },
      endpoints: addresses.map((each) => ({
        addresses: [`10.1.${each >> 8}.${each & 255}`],
        conditions: { ready: true },
      })),
      ports: [{ name: "http", port: 8080 }],
    };
  }
  for (let index = 0; index < ROUTES; index += 1) yield route(index, "/");
}

itUnless(missing)(
  `${ROUTES} routes and ${SERVICES * ENDPOINTS} endpoints are compiled within ${MEGABYTES} MB, and written once`,
  async () => {
    const front = await FrontGateway.start();
    const { api, port } = front;
    const answers = ["first", "second"].map((text) => createServer((_, to) => to.end(text)));
    const pods = await Promise.all(answers.map((each) => listen(each, "0.0.0.0")));
    const all = objects();
    const make = async () => {
      for (const object of all) await api.apply(object);
    };
    await Promise.all(Array.from({ length: 16 }, make));
    await api.apply(liveSlice(pods[0] ?? 0));
    const controller = front.startController();
    const status = (field: string) =>
      Number(
        new RegExp(`${field}:\\s+(\\d+) kB`).exec(
          readFileSync(`/proc/${controller.pid}/status`, "utf8"),
        )?.[1],
      ) / 1024;
    /** Seconds of CPU so far. */
    const used = () => {
      const fields = readFileSync(`/proc/${controller.pid}/stat`, "utf8")
        .split(") ")[1]
        ?.split(" ");
      return (Number(fields?.[11]) + Number(fields?.[12])) / 100;
    };
    for (;;) {
      const isReady = await controller.seen(/ready;/).catch(() => undefined);
      if (isReady !== undefined) break;
    }
    const figures = [`ready after ${used()} s of CPU, ${Math.round(status("VmRSS"))} MB`];
    const accepted = async (index: number) => {
      const found = await api.get(gatewayApi, "HTTPRoute", "default", `r${index}`);
      const condition = found.status?.parents?.[0]?.conditions?.[0];
      return condition?.observedGeneration === found.metadata.generation || null;
    };
    for (let index = 0; index < ROUTES; ) {
      const isDone = await eventually(() => accepted(index), "a status").catch(() => false);
      if (isDone) index += 100;
    }
    figures.push(`statuses after ${used()} s of CPU, ${Math.round(status("VmRSS"))} MB`);
    const env = await front.dataPlane();
    let isOver = false;
    // Modules are never unloaded: after so many changes a data plane ends, and its pod starts it again.
    const serve = (): void => {
      void new GwcProcess(["agent"], { env }).exited.then(() => isOver || serve());
    };
    serve();
    try {
      /** Milliseconds until requests of a path are answered like this. */
      const answered = async (path: string, text: string, before = () => {}) => {
        const began = performance.now();
        for (;;) {
          before();
          const target = `http://127.0.0.1:${port}${path}`;
          const headers = { host: "h7.example.com" };
          const got = await send(target, "GET", headers).catch(() => undefined);
          const time = performance.now() - began;
          if (got?.status === 200 && got.body === text) return time;
          if (time > LONGEST * 1000) throw new Error(`${path} is answered ${got?.status}`);
          await pause(2);
        }
      };
      const figure = (what: string, times: readonly number[], cpu: number) => {
        const [middle, last] = [0.5, 1].map((part) => {
          return Math.round(
            times.toSorted((a, b) => a - b)[Math.ceil(times.length * part) - 1] ?? 0,
          );
        });
        const each = (cpu / times.length).toFixed(2);
        figures.push(`${what}: median ${middle} ms, longest ${last} ms, ${each} s of CPU`);
      };
      const routes: number[] = [];
      await api.apply(route(7, "/first", "live"));
      await eventually(() => answered("/first", "first").catch(() => null), "the data plane");
      let began = used();
      for (let change = 0; change < CHANGES; change += 1) {
        await api.apply(route(7, `/changed-${change}`, "live"));
        routes.push(await answered(`/changed-${change}`, "first"));
        await eventually(() => accepted(7), "the status of a change");
      }
      figure("a changed route is in data planes", routes, used() - began);
      const endpoints: number[] = [];
      began = used();
      for (let change = 1; change <= CHANGES; change += 1) {
        await api.apply(liveSlice(pods[change % 2] ?? 0));
        const text = change % 2 === 0 ? "first" : "second";
        // Open connections continue: a pod that leaves ends its own like one that drains.
        const leaving = answers[(change + 1) % 2];
        const drain = () => leaving?.closeAllConnections();
        endpoints.push(await answered(`/changed-${CHANGES - 1}`, text, drain));
      }
      figure("changed endpoints are in data planes", endpoints, used() - began);
      figures.push(`at most ${Math.round(status("VmHWM"))} MB`);
      console.log([...figures, controller.output].join("\n"));
      expect(status("VmHWM")).toBeLessThan(MEGABYTES);
    } finally {
      isOver = true;
    }
  },
  1_800_000,
);
