import { describe, expect, it } from "vitest";
import { CachedCheck, checkFiles } from "../../../compiler/compile.ts";
import { memoryHost } from "../../../compiler/host.ts";
import type { RouteNode } from "../../../compiler/ir/program.ts";

const group = "gateway.networking.k8s.io";
const own = "gwc.dev/v1alpha1";
const everyone = { namespaces: { from: "All" } };
const service = { name: "s", port: 80 };

/** Manifests by path. */
type Files = Record<string, string>;

function add(
  files: Files,
  [apiVersion, kind, namespace, name]: readonly [string, string, string, string],
  spec: object,
): void {
  const metadata = { name, namespace };
  files[`/${kind}/${namespace}/${name}`] = JSON.stringify({ apiVersion, kind, metadata, spec });
}

function addRoute(files: Files, namespace: string, name: string, spec: object): void {
  add(files, [`${group}/v1`, "HTTPRoute", namespace, name], {
    parentRefs: [{ name: "g", namespace: "infra" }],
    hostnames: [`${namespace}.example.com`],
    rules: [{ name: "first", backendRefs: [service] }],
    ...spec,
  });
}

function addDeny(files: Files, namespace: string, name: string, path: string): void {
  add(files, [own, "GatewayPolicy", namespace, name], {
    targetRefs: [{ group, kind: "HTTPRoute", name: "r" }],
    traffic: {
      authorization: {
        action: "Deny",
        policy: { matchExpressions: [`request.path == "${path}"`] },
      },
    },
  });
}

/** A Gateway with two listeners, and a route of two tenants with a rule each. */
function shared(): Files {
  const files: Files = {};
  const listeners = [8080, 8081].map((port) => ({
    ...{ name: `at-${port}`, port, protocol: "HTTP", allowedRoutes: everyone },
  }));
  add(files, [`${group}/v1`, "Gateway", "infra", "g"], {
    gatewayClassName: "gwc",
    allowedListeners: { namespaces: { from: "All" } },
    listeners,
  });
  for (const namespace of ["a", "x"]) {
    add(files, ["v1", "Service", namespace, "s"], { ports: [{ port: 80 }] });
    addRoute(files, namespace, "r", {});
    addDeny(files, namespace, "p", "/secret");
  }
  return files;
}

/** Configurations of a tenant whose routes a change of another tenant leaves as they are. */
const TENANTS: readonly (readonly [what: string, change: (files: Files) => void])[] = [
  ["a rule on two listeners", () => {}],
  [
    "a rule with a warning",
    (files) => addRoute(files, "x", "r", { rules: [{ backendRefs: [{ ...service, weight: 0 }] }] }),
  ],
  [
    "two backends, one of which is missing",
    (files) =>
      addRoute(files, "x", "r", {
        rules: [{ backendRefs: [service, { name: "missing", port: 80 }] }],
      }),
  ],
  [
    "a credential that is a literal",
    (files) => {
      add(files, [own, "GatewayBackend", "x", "b"], {
        static: { host: "b.example.com", port: 80 },
        policies: { auth: { key: "literal" } },
      });
      const reference = { group: "gwc.dev", kind: "GatewayBackend", name: "b" };
      addRoute(files, "x", "r", { rules: [{ backendRefs: [reference] }] });
    },
  ],
  [
    "tools of the Services that a selector finds",
    (files) => {
      add(files, [own, "GatewayBackend", "x", "b"], {
        mcp: { targets: [{ name: "tools", selector: { services: {} } }] },
      });
      add(files, ["v1", "Service", "x", "tools"], {
        ports: [{ port: 80, appProtocol: "kgateway.dev/mcp" }],
      });
      const reference = { group: "gwc.dev", kind: "GatewayBackend", name: "b" };
      addRoute(files, "x", "r", { rules: [{ backendRefs: [reference] }] });
    },
  ],
  [
    "a listener without its certificate",
    (files) =>
      add(files, [`${group}/v1`, "ListenerSet", "x", "set"], {
        parentRef: { name: "g", namespace: "infra" },
        listeners: [
          {
            ...{ name: "tls", port: 8443, protocol: "HTTPS" },
            tls: { mode: "Terminate", certificateRefs: [{ name: "missing" }] },
          },
        ],
      }),
  ],
  ["two policies of which one wins", (files) => addDeny(files, "x", "q", "/other")],
  [
    "a rule that delegates to a route",
    (files) => {
      const child = { group, kind: "HTTPRoute", name: "child" };
      addRoute(files, "x", "r", { rules: [{ backendRefs: [child] }] });
      addRoute(files, "x", "child", { parentRefs: [], hostnames: [] });
    },
  ],
];

describe("a route is not resolved again when somebody else's policy changes", () => {
  it.each(TENANTS)("%s", (_, change) => {
    const files = shared();
    change(files);
    const cached = new CachedCheck();
    const routes = (): readonly RouteNode[] => {
      const host = { ...memoryHost(files), filesIn: () => undefined };
      const options = { name: "gateway", isStrict: false, isIsolating: true, isDelivered: true };
      const { programs } = checkFiles(Object.keys(files), host, options, cached);
      const listeners = programs.flatMap(({ binds }) => binds.flatMap((bind) => bind.listeners));
      return listeners.flatMap((listener) => listener.routes);
    };
    const of = (namespace: string, all: readonly RouteNode[]) =>
      new Set(all.filter(({ name }) => name.startsWith(`${namespace}/`)));
    const first = routes();
    addDeny(files, "a", "p", "/changed");
    const second = routes();
    expect(of("x", second).size).toBeGreaterThan(0);
    expect(of("x", second)).toEqual(of("x", first));
    for (const each of of("x", second)) expect(first).toContain(each);
    for (const each of of("a", second)) expect(first).not.toContain(each);
  });
});
