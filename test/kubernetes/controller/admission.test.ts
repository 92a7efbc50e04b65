import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { request as plainRequest } from "node:http";
import { request } from "node:https";
import { beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { Judge } from "../../../compiler/controller/admission/judge.ts";
import { selfSigned } from "../../../compiler/controller/admission/self-signed.ts";
import { kubernetesAccess } from "../../../compiler/controller/kubernetes/access.ts";
import { ApiServer } from "../../../compiler/controller/kubernetes/api-server.ts";
import { WatchedObjects } from "../../../compiler/controller/model/watched-objects.ts";
import { realHost } from "../../../compiler/host.ts";
import { atEnd } from "../../harness/at-end.ts";
import { startController } from "../../harness/controller.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort } from "../../harness/free-port.ts";
import type { GwcProcess } from "../../harness/gwc.ts";
import {
  KubernetesApi,
  kubernetesBinary,
  missingApiServer,
  type TestObject,
} from "../../harness/kubernetes-api.ts";
import { describeUnless } from "../../harness/skip.ts";
import {
  CONFIGURATION,
  gateway,
  gatewayApi,
  manifests,
  policy,
  route,
} from "./admission-objects.ts";

const missing = missingApiServer(["kubectl"]);

describeUnless(missing)("objects with mistakes", () => {
  let api: KubernetesApi;
  let controller: GwcProcess;
  let port: number;

  beforeAll(async () => {
    api = await KubernetesApi.start();
    port = await freePort();
    await api.apply(...manifests("gwc.yaml"));
    const [webhook, ...others] = manifests("gwc-webhook.yaml").toSorted(({ kind }) =>
      kind === "ValidatingWebhookConfiguration" ? -1 : 1,
    );
    await api.apply(...others);
    // The API server of a test can't reach Services; an unreachable webhook refuses everything here.
    const [rules] = (webhook?.webhooks ?? []) as readonly object[];
    const clientConfig = { url: `https://127.0.0.1:${port}/check` };
    const asked = { ...rules, clientConfig, failurePolicy: "Fail" };
    await api.apply({ ...(webhook as TestObject), webhooks: [asked] });
    controller = await start();
    await api.delete({ apiVersion: gatewayApi, kind: "GatewayClass", metadata: { name: "none" } });
    await eventually(async () => {
      const { stderr } = kubectl(gateway("gwc", "front"), "apply");
      return stderr === "" || null;
    }, "the webhook");
  }, 180_000);

  /** The controller with the rights that the manifests give it, and no others. */
  async function start(): Promise<GwcProcess> {
    const token = "/api/v1/namespaces/gwc-system/serviceaccounts/gwc/token";
    const said = await api.ask("POST", token, { spec: {} });
    const kubeconfig = api.kubeconfigOf(said.body.status.token, "gwc-system");
    const options = ["--admission", CONFIGURATION, "--admission-port", String(port)];
    const started = startController({ kubeconfig }, ...options);
    await started.seen(/leading/);
    return started;
  }

  /** Runs kubectl with an object and returns its output, without the name of its file. */
  function kubectl(
    text: string,
    ...options: string[]
  ): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
    const argv = ["--kubeconfig", api.kubeconfig, ...options, "-f", "-"];
    const { status, stdout, stderr } = spawnSync(kubernetesBinary("kubectl"), argv, {
      input: text,
      encoding: "utf8",
    });
    return { code: status, stdout, stderr };
  }

  it("a route with an invalid pattern is refused, with its place", () => {
    const { code, stderr } = kubectl(route("bad", { pattern: "/books/[0-9" }), "apply");
    expect(stderr).toContain('admission webhook "check.gwc.dev" denied the request');
    expect(stderr).toContain("spec.rules[0].matches[0].path.");
    expect(stderr).toContain("the regular expression is not valid: missing closing ]");
    expect(code).toBe(1);
  });

  it("a policy with a broken expression is refused in the words of gwc check", async () => {
    const { stderr } = kubectl(policy("broken", "request.path = 1"), "apply");
    expect(stderr).toContain(
      "spec.traffic.authorization.policy.matchExpressions[0]: the expression is not valid CEL",
    );
    expect(await api.get("gwc.dev/v1alpha1", "GatewayPolicy", "default", "broken")).toBeUndefined();
  });

  it("all mistakes of an object are reported at once", () => {
    const text = policy("broken", "request.pth == 1").replace(
      "'request",
      "'true || = 1', 'request",
    );
    const { stderr } = kubectl(text, "apply");
    expect(stderr).toContain("matchExpressions[0]: ");
    expect(stderr).toContain("matchExpressions[1]: ");
  });

  it("an invalid provider of models is refused by the definition of its kind", () => {
    const { stderr } = kubectl(
      `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: models}, spec: {ai: {provider: {nobody: {}}}}}`,
      "apply",
    );
    expect(stderr).toContain("nobody");
  });

  it("an edit is refused, and what was there stays", async () => {
    expect(kubectl(policy("sound", 'request.path == "/a"'), "apply").stderr).toBe("");
    expect(kubectl(policy("sound", "request.path = 1"), "apply").code).toBe(1);
    const now = await api.get("gwc.dev/v1alpha1", "GatewayPolicy", "default", "sound");
    expect(JSON.stringify(now.spec)).toContain('request.path == \\"/a\\"');
  });

  it("what is not there yet is a warning: objects may come in any order", async () => {
    const { code, stderr } = kubectl(route("early", { parent: "coming" }), "apply");
    expect(stderr).toContain('Warning: there is no Gateway "default/coming" yet');
    expect(stderr).toContain('Warning: there is no Service "default/later" yet');
    expect(code).toBe(0);
    expect(kubectl(policy("early", "jwt.sub == 1 || true", "coming"), "apply").code).toBe(0);
    expect(kubectl(gateway("gwc", "coming"), "apply").code).toBe(0);
  });

  it("nothing is refused over the mistake of another object", async () => {
    // As it was before the webhook: nobody is asked about a namespace's objects that are there.
    const object = parseAllDocuments(policy("wrong", "request.path = 1"))[0]?.toJS() as TestObject;
    const said = await api.ask(
      "GET",
      `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${CONFIGURATION}`,
    );
    const { webhooks, metadata } = said.body;
    const kind = { apiVersion: said.body.apiVersion, kind: said.body.kind };
    const named = { name: metadata.name };
    await api.apply({ ...kind, metadata: named, webhooks: [{ ...webhooks[0], rules: [] }] });
    await eventually(
      () =>
        api
          .apply(object)
          .then(() => true)
          .catch(() => null),
      "the policy",
    );
    await api.apply({ ...kind, metadata: named, webhooks });
    await eventually(() => kubectl(policy("again", "= 1"), "apply").code === 1 || null, "rules");
    expect(kubectl(route("second"), "apply").code).toBe(0);
    // Its labels may change, and it may go, mistakes or not.
    const url = api.url(object);
    const label = { metadata: { labels: { team: "a" } } };
    const type = "application/merge-patch+json";
    expect((await api.ask("PATCH", url, label, type)).status).toBe(200);
    expect((await api.ask("DELETE", url)).status).toBe(200);
  });

  it("a dry run says the same and leaves nothing", async () => {
    const { code } = kubectl(route("dry", { pattern: "/[0-9" }), "apply", "--dry-run=server");
    expect(code).toBe(1);
    expect(kubectl(route("dry"), "apply", "--dry-run=server").code).toBe(0);
    expect(await api.get(gatewayApi, "HTTPRoute", "default", "dry")).toBeUndefined();
  });

  it("the objects of other controllers are left to them", async () => {
    const other = { name: "other" };
    const spec = { controllerName: "other.invalid/controller" };
    await api.apply({ apiVersion: gatewayApi, kind: "GatewayClass", metadata: other, spec });
    expect(kubectl(gateway("other", "theirs"), "apply").code).toBe(0);
    await eventually(
      () =>
        kubectl(route("theirs", { parent: "theirs", pattern: "/[0-9" }), "apply").code === 0 ||
        null,
      "a route of the other controller",
    );
    expect(kubectl(route("ours", { pattern: "/[0-9" }), "apply").code).toBe(1);
    await api.delete({ apiVersion: gatewayApi, kind: "GatewayClass", metadata: other });
  });

  it("what is no review is refused: other paths and methods, no JSON, too much of it, other kinds, no TLS", async () => {
    const ask = (method: string, url: string, body: string, type = "application/json") =>
      new Promise<number>((resolve, reject) => {
        const options = { host: "127.0.0.1", port, path: url, method, rejectUnauthorized: false };
        const sent = request({ ...options, headers: { "content-type": type } }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on("error", reject);
        sent.end(body);
      });
    for (const url of ["/other", "//", "//[", "http://[/", "*"])
      expect(await ask("POST", url, "{}"), url).toBe(404);
    expect(await ask("GET", "/check", "")).toBe(405);
    expect(await ask("POST", "/check", "{}", "text/yaml")).toBe(415);
    expect(await ask("POST", "/check", "{")).toBe(400);
    expect(await ask("POST", "/check", '{"kind":"AdmissionReview","apiVersion":"v1"}')).toBe(400);
    // The response arrives during the rest of the request, which may be aborted.
    const long = `"${"a".repeat(9 * 1024 * 1024)}"`;
    expect(await ask("POST", "/check", long).catch(() => 413)).toBe(413);
    const review = (kind: string, spec: unknown) =>
      JSON.stringify({
        ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
        request: {
          uid: "1",
          operation: "CREATE",
          object: { apiVersion: "v1", kind, metadata: { name: "a" }, spec },
        },
      });
    expect(await ask("POST", "/check", review("Pod", { containers: 1 }))).toBe(200);
    // Such deep nesting is not parsed to its end.
    const nested = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const created = review("GatewayParameters", "NESTED")
      .replace('"v1"', '"gwc.dev/v1alpha1"')
      .replace('"NESTED"', nested);
    const before = `{"apiVersion":"v1","kind":"Any","metadata":{"name":"a"},"spec":${nested}}`;
    const changed = created.replace('"CREATE"', `"UPDATE","oldObject":${before}`);
    for (const each of [created, changed]) expect(await ask("POST", "/check", each)).toBe(200);
    const plain = new Promise((resolve) => {
      const sent = plainRequest({ host: "127.0.0.1", port, path: "/check" }, () =>
        resolve("response"),
      );
      sent.on("error", () => resolve("the connection ended"));
      sent.end();
    });
    expect(await plain).toBe("the connection ended");
    expect(kubectl(route("after"), "apply").code).toBe(0);
  });

  it("what is not judged in time is given up, and whatever comes next is judged", async () => {
    const access = kubernetesAccess(realHost(process.env), api.kubeconfig);
    if ("problem" in access) throw new Error(access.problem);
    const server = new ApiServer(access);
    const quiet = () => {};
    const listener = { declared: quiet, data: quiet, warn: quiet };
    const scope = { namespaces: [], hasInference: false, secrets: [] };
    const objects = await WatchedObjects.open(server, scope, listener);
    const judge = new Judge(objects);
    atEnd(() => {
      judge.stop();
      objects.stop();
      server.close();
    });
    const metadata = { name: "judged", namespace: "default" };
    const spec = { traffic: { authorization: { policy: { matchExpressions: ["1 +"] } } } };
    const object = { apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata, spec };
    const judged = { object, kind: "GatewayPolicy" } as const;
    // The thread starts longer than that; who waits behind it has no time left.
    const late = [judge.judgement(judged, 20, "one"), judge.judgement(judged, 1, "one")];
    const ends = await Promise.allSettled(late);
    const [first, second] = ends.map((each) => each.status === "rejected" && String(each.reason));
    // If this process has to wait for the CPU, the first one has no time left either.
    expect(first).toMatch(/^Error: (the thread ended|it was not judged in time)$/);
    expect(second).toBe("Error: it was not judged in time");
    const judgement = await judge.judgement(judged, 60_000, "one");
    expect(judgement?.mistakes.join()).toContain("targetRefs");
    const reasons: string[] = [];
    const many = Array.from({ length: 101 }, () =>
      judge.judgement(judged, 60_000, "one").catch((error) => reasons.push(String(error))),
    );
    await many.at(-1);
    expect(reasons.join()).toMatch(/^Error: too many objects[^,]+$/);
    // Another caller is judged before all those, and the newest of them makes place for it.
    await judge.judgement(judged, 60_000, "other");
    expect(reasons).toHaveLength(2);
    judge.stop();
    void Promise.allSettled(many);
  });

  it("a controller that is silent holds up an object for 5 seconds, and then the failure policy decides", async () => {
    const url = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${CONFIGURATION}`;
    const set = (field: string, value: unknown) => {
      const patch = [{ op: "replace", path: `/webhooks/0/${field}`, value }];
      return api.ask("PATCH", url, patch, "application/json-patch+json");
    };
    controller.signal("SIGSTOP");
    const { code, stderr } = kubectl(route("silence"), "apply");
    expect(code).toBe(1);
    expect(stderr).toMatch(/check\?timeout=5s.*context deadline exceeded/);
    await set("timeoutSeconds", 1);
    await set("failurePolicy", "Ignore");
    const broken = route("let-in", { pattern: "/[0-9" });
    await eventually(async () => kubectl(broken, "apply").code === 0 || null, "an object");
    await set("failurePolicy", "Fail");
    await set("timeoutSeconds", 5);
    controller.signal("SIGCONT");
    await eventually(async () => {
      const found = await api.get(gatewayApi, "HTTPRoute", "default", "let-in");
      const said = found.status?.parents?.[0]?.conditions ?? [];
      return said.some(({ status }: { status: string }) => status === "False") || null;
    }, "the status of the route with a mistake");
    const refused = () => kubectl(route("refused", { pattern: "/[0-9" }), "apply").stderr;
    await eventually(() => refused().includes("denied the request") || null, "a refusal");
  });

  it("a certificate is made anew when it is gone or nearly over, and the API server knows it", async () => {
    const metadata = { name: "gwc-webhook-cert", namespace: "gwc-system" };
    const secret = { apiVersion: "v1", kind: "Secret", metadata };
    const serial = async () => {
      const found = await api.get("v1", "Secret", "gwc-system", metadata.name);
      const cert = found && Buffer.from(found.data["tls.crt"], "base64");
      return cert && new X509Certificate(cert).serialNumber;
    };
    const seen = [await serial()];
    const another = () =>
      eventually(async () => {
        const now = await serial();
        return now === undefined || seen.includes(now) ? null : seen.push(now);
      }, "another certificate");
    await api.delete(secret);
    await another();
    const { cert, key } = selfSigned(["127.0.0.1"], 30);
    seen.push(new X509Certificate(cert).serialNumber);
    const stringData = { "tls.crt": cert, "tls.key": key };
    await api.ask("PATCH", api.url(secret), { stringData }, "application/merge-patch+json");
    await another();
    await eventually(() => kubectl(route("rotated"), "apply").code === 0 || null, "a route");
    // One of somebody else that can't be used leaves the last one in use, until it is another.
    const broken = { metadata: { labels: null }, data: { "tls.crt": "YQ==", "tls.key": "YQ==" } };
    await api.ask("PATCH", api.url(secret), broken, "application/merge-patch+json");
    await controller.seen(/the certificate of gwc-gwc-system can't be used/);
    await eventually(() => kubectl(route("goes-on"), "apply").code === 0 || null, "a route");
    await api.delete(secret);
    await another();
    await eventually(() => kubectl(route("mended"), "apply").code === 0 || null, "a route");
    expect(controller.output).not.toMatch(/403|admission does not start/);
  });
});
