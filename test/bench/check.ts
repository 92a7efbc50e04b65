import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";

// `npm run bench:check`: what checking many manifests costs. Its growth is the result: 1 is linear; the time of
// `gwc check` on 1,000 routes, 200 policies and 200 backends, start of the process included, has a goal.

/** Seconds that `gwc check` may take for 1,000 routes. */
const GOAL = 1.5;
/** How much faster than linear a tenfold input may grow, noise included. */
const GROWTH = 1.3;

const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: gw
spec:
  gatewayClassName: gwc
  listeners:
    - name: http
      port: 8080
      protocol: HTTP
`;

const costs = [100, 1000, 10_000].map((routes) => ({
  routes,
  seconds: bestOf(3, () => inProcess(manifests(routes))),
}));
let isGood = true;
for (const [index, { routes, seconds }] of costs.entries()) {
  const before = costs[index - 1];
  const growth = before && seconds / before.seconds / (routes / before.routes);
  if (growth !== undefined && growth > GROWTH) isGood = false;
  const ratio = growth === undefined ? "" : `  growth ${growth.toFixed(2)} (at most ${GROWTH})`;
  console.log(
    `${String(routes).padStart(6)} routes  ${(seconds * 1000).toFixed(0).padStart(6)} ms CPU${ratio}`,
  );
}
const whole = bestOf(5, () => asProcess(manifests(1000)));
if (whole > GOAL) isGood = false;
console.log(`gwc check, 1000 routes, as a process: ${whole.toFixed(2)} s (at most ${GOAL})`);
process.exitCode = isGood ? 0 : 1;

function bestOf(count: number, measure: () => number): number {
  return Math.min(...Array.from({ length: count }, measure));
}

/** CPU seconds of checking, without the start of a process. */
function inProcess(text: string): number {
  const host = memoryHost({ "many.yaml": text });
  const start = process.cpuUsage();
  const { programs } = checkFiles(["many.yaml"], host, { name: "many", isStrict: false });
  const { user, system } = process.cpuUsage(start);
  if (programs.length !== 1) throw new Error("the manifests are refused");
  return (user + system) / 1e6;
}

/** Seconds that `gwc check` takes. */
function asProcess(text: string): number {
  const folder = mkdtempSync(path.join(tmpdir(), "gwc-many-"));
  try {
    writeFileSync(path.join(folder, "many.yaml"), text);
    const cli = path.resolve(import.meta.dirname, "../../compiler/gwc.mjs");
    const start = performance.now();
    execFileSync(process.execPath, [cli, "check", folder], { stdio: "ignore" });
    return (performance.now() - start) / 1000;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** So many routes, a fifth as many backends, and a fifth as many policies, each on a route. */
function manifests(routes: number): string {
  const some = Math.ceil(routes / 5);
  const numbers = (count: number): readonly number[] =>
    Array.from({ length: count }, (_, index) => index);
  return [
    gateway,
    ...numbers(routes).map((index) => route(index, index % some)),
    ...numbers(some).map(backend),
    ...numbers(some).map((index) => policy(index, index * 5)),
  ].join("---\n");
}

function route(index: number, backendIndex: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-${index}
spec:
  parentRefs:
    - name: gw
  hostnames:
    - host-${index % 50}.example.com
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /path-${index}
      backendRefs:
        - group: gwc.dev
          kind: GatewayBackend
          name: backend-${backendIndex}
`;
}

function backend(index: number): string {
  return `apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata:
  name: backend-${index}
spec:
  static:
    host: backend-${index}.example.com
    port: 8080
`;
}

function policy(index: number, routeIndex: number): string {
  return `apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata:
  name: policy-${index}
spec:
  targetRefs:
    - group: gateway.networking.k8s.io
      kind: HTTPRoute
      name: route-${routeIndex}
  traffic:
    cors:
      allowOrigins:
        - https://app-${index}.example.com
    authorization:
      policy:
        matchExpressions:
          - request.method == "GET" && request.path.startsWith("/path-${routeIndex}")
`;
}
