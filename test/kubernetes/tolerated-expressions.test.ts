import { beforeAll, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { checkManifests, complaints } from "./manifests.ts";

const INVALID = '"foolen_{{request.path}}"';
let upstream: string;
let services: EnvoyServices;

beforeAll(async () => {
  [upstream, services] = await Promise.all([
    startUpstream((request, response) => response.end(JSON.stringify(request.headers))),
    startEnvoyServices(),
  ]);
});

/** A Gateway with a route to the upstream server, and a policy on the Gateway. */
async function manifestsWith(policy: string): Promise<string> {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [{name: web, port: ${await freePort()}, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: shop}]}]}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: shop}
spec: {static: {host: 127.0.0.1, port: ${new URL(upstream).port}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: asked}
spec: {static: {host: 127.0.0.1, port: ${services.port}}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: p}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}]
  ${policy}
`;
}

/** The condition "Accepted" that a controller writes for the policy. */
function accepted(manifests: string): { status: string; reason: string; message: string } {
  const options = { name: "test", isStrict: false, isIsolating: true };
  const checked = checkFiles(["a.yaml"], memoryHost({ "a.yaml": manifests }), options);
  if (checked.kubernetes === undefined) throw new Error("no manifests");
  const found = statusOf(checked, checked.kubernetes).find(({ kind }) => kind === "GatewayPolicy");
  // The shape that the Gateway API gives statuses of policies.
  const status = (found?.status ?? {}) as {
    ancestors?: readonly { conditions: readonly ReturnType<typeof accepted>[] }[];
  };
  const [first] = status.ancestors?.[0]?.conditions ?? [];
  if (first === undefined) throw new Error("no conditions");
  return first;
}

const authorization = (action: string, ...expressions: readonly string[]): string =>
  `traffic: {authorization: {action: ${action}, policy: {matchExpressions: [${expressions.join(", ")}]}}}`;

it.each([
  ["an allow rule that is invalid allows nobody", "Allow", [INVALID], 403],
  ["a valid allow rule next to it still allows", "Allow", [INVALID, '"true"'], 200],
  ["a deny rule that is invalid denies everybody", "Deny", [INVALID], 403],
  ["a deny rule of which one expression is invalid denies", "Deny", ['"false"', INVALID], 403],
  [
    "a require rule refuses requests for which one of its expressions is false",
    "Require",
    ['"true"', '"false"'],
    403,
  ],
  [
    "a require rule passes requests for which all of its expressions are true",
    "Require",
    ['"true"', '"1 < 2"'],
    200,
  ],
  ["a require rule that is invalid is never met", "Require", [INVALID], 403],
  [
    "a require rule of which one expression is invalid is not met",
    "Require",
    ['"true"', INVALID],
    403,
  ],
] as const)("%s", async (_, action, expressions, status) => {
  const gateway = await startIsolated(await manifestsWith(authorization(action, ...expressions)));
  expect((await send(gateway.url, "GET")).status).toBe(status);
});

it("a header whose expression is invalid is removed, and the valid one set", async () => {
  const set = `[{name: x-user, value: ${INVALID}}, {name: x-path, value: request.path}]`;
  const policy = `traffic: {transformation: {request: {set: ${set}}}}`;
  const gateway = await startIsolated(await manifestsWith(policy));
  const { body } = await send(gateway.url, "GET", { "x-user": "forged" });
  expect(JSON.parse(body)).toMatchObject({ "x-path": "/" });
  expect(JSON.parse(body)).not.toHaveProperty("x-user");
});

it("a server is asked without the metadata whose expression is invalid", async () => {
  const grpc = `{requestMetadata: {bad: ${INVALID}, good: '{"path": request.path}'}}`;
  const server = "{group: gwc.dev, kind: GatewayBackend, name: asked}";
  const policy = `traffic: {extAuth: {backendRef: ${server}, grpc: ${grpc}}}`;
  const gateway = await startIsolated(await manifestsWith(policy));
  await send(`${gateway.url}/asked`, "GET");
  const [check] = services.seen();
  const asked = JSON.stringify(check?.message);
  expect(asked).toContain('"good"');
  expect(asked).not.toContain('"bad"');
});

it("an access line lacks the field whose expression is invalid, and no filter hides it", async () => {
  const attributes = `{add: [{name: bad, expression: ${INVALID}}, {name: good, expression: request.path}]}`;
  const policy = `frontend: {accessLog: {filter: ${INVALID}, attributes: ${attributes}}}`;
  const gateway = await startIsolated(await manifestsWith(policy));
  await send(`${gateway.url}/logged`, "GET");
  const [line] = await gateway.seen(/^.*good=.*$/m);
  expect(line).toContain("/logged");
  expect(line).not.toContain("bad=");
});

it.each([
  authorization("Deny", INVALID),
  `traffic: {transformation: {request: {set: [{name: x-user, value: ${INVALID}}]}}}`,
  `frontend: {accessLog: {filter: ${INVALID}}}`,
  `frontend: {metrics: {attributes: {add: [{name: bad, expression: ${INVALID}}]}}}`,
])("the status of the policy names the expression: %s", async (policy) => {
  const { status, reason, message } = accepted(await manifestsWith(policy));
  expect(`${status} ${reason}`).toBe("True PartiallyValid");
  expect(message).toMatch(/^spec\./);
});

it.each([
  [
    "a limit",
    "traffic: {rateLimit: {global: {backendRef: {group: gwc.dev, kind: GatewayBackend, name: asked}, domain: d, descriptors: [{entries: [{name: user, expression: INVALID}]}]}}}",
  ],
  [
    "a condition of a policy",
    "traffic: {authorization: {conditional: [{condition: INVALID, policy: {policy: {matchExpressions: ['true']}}}]}}",
  ],
])("%s that would never apply is not accepted", async (_, policy) => {
  const manifests = await manifestsWith(policy.replace("INVALID", INVALID));
  expect(accepted(manifests)).toMatchObject({ status: "False", reason: "Invalid" });
});

it("`gwc check` refuses what a controller serves in part", async () => {
  const checked = checkManifests(await manifestsWith(authorization("Deny", INVALID)));
  expect(checked.program).toBeUndefined();
  expect(complaints(checked).join()).toContain("cel-syntax");
});

const missing = "backendRef: {group: gwc.dev, kind: GatewayBackend, name: gone}";

it("requests are refused while the server that a policy asks is missing", async () => {
  const manifests = await manifestsWith(`traffic: {extAuth: {${missing}, grpc: {}}}`);
  expect((await send((await startIsolated(manifests)).url, "GET")).status).toBe(500);
  expect(accepted(manifests)).toMatchObject({ status: "True", reason: "PartiallyValid" });
});

it("requests are served while the server of traces is missing", async () => {
  const manifests = await manifestsWith(
    `frontend: {tracing: {${missing}, randomSampling: "true"}}`,
  );
  expect((await send((await startIsolated(manifests)).url, "GET")).status).toBe(200);
  expect(accepted(manifests)).toMatchObject({ status: "True", reason: "PartiallyValid" });
});

it("access lines are written while the server of their records is missing", async () => {
  const attributes = "attributes: {add: [{name: good, expression: request.path}]}";
  const policy = `frontend: {accessLog: {otlp: {${missing}}, ${attributes}}}`;
  const gateway = await startIsolated(await manifestsWith(policy));
  expect((await send(`${gateway.url}/logged`, "GET")).status).toBe(200);
  await gateway.seen(/^.*\/logged.*$/m);
});

it.each(["otlp: {}", "attributes: {add: [{name: a, expression: '1', more: 1}]}"])(
  "a policy with a mistake in its access log denies as before: %s",
  async (accessLog) => {
    const policy = `frontend: {accessLog: {${accessLog}}}\n  ${authorization("Deny", '"true"')}`;
    const { status } = await send((await startIsolated(await manifestsWith(policy))).url, "GET");
    expect([403, 500]).toContain(status);
  },
);
