import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { KubernetesApi, missingApiServer, type TestObject } from "../../harness/kubernetes-api.ts";

const isAsked = process.env.GWC_LONG_TESTS === "1";
const missing = isAsked ? missingApiServer() : "GWC_LONG_TESTS=1";
const note = missing === undefined ? "" : ` (left out: ${missing})`;
const [ROUTES, SERVICES, ENDPOINTS] = [5_000, 1_000, 10];
/** Changes of one route, one after the other. */
const CHANGES = 20;
const MEGABYTES = 700;

const gatewayApi = "gateway.networking.k8s.io/v1";

function route(index: number, path: string): TestObject {
  return {
    ...{ apiVersion: gatewayApi, kind: "HTTPRoute" },
    metadata: { name: `r${index}`, namespace: "default" },
    spec: {
      parentRefs: [{ name: "front" }],
      hostnames: [`h${index}.example.com`],
      rules: [
        {
          matches: [{ path: { value: path } }],
          backendRefs: [{ name: `s${index % SERVICES}`, port: 80 }],
        },
      ],
    },
  };
}

function* objects(): Iterable<TestObject> {
  yield {
    ...{ apiVersion: gatewayApi, kind: "GatewayClass", metadata: { name: "gwc" } },
    spec: { controllerName: "gwc.dev/gateway" },
  };
  const listeners = [{ name: "http", port: 8080, protocol: "HTTP" }];
  yield {
    ...{ apiVersion: gatewayApi, kind: "Gateway" },
    metadata: { name: "front", namespace: "default" },
    spec: { gatewayClassName: "gwc", listeners },
  };
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

it.runIf(missing === undefined)(
  `${ROUTES} routes and ${SERVICES * ENDPOINTS} endpoints are compiled within ${MEGABYTES} MB, and written once${note}`,
  async () => {
    const api = await KubernetesApi.start();
    const all = objects();
    const make = async () => {
      for (const object of all) await api.apply(object);
    };
    await Promise.all(Array.from({ length: 16 }, make));
    const controller = startController(api);
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
    const before = used();
    for (let change = 0; change < CHANGES; change += 1) {
      await api.apply(route(7, `/changed-${change}`));
      await eventually(() => accepted(7), "the status of a change");
    }
    const each = ((used() - before) / CHANGES).toFixed(2);
    figures.push(`a change takes ${each} s of CPU, ${Math.round(status("VmRSS"))} MB`);
    figures.push(`at most ${Math.round(status("VmHWM"))} MB`);
    console.log([...figures, controller.output].join("\n"));
    expect(status("VmHWM")).toBeLessThan(MEGABYTES);
  },
  1_800_000,
);
