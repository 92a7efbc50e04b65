import { describe, expect, it } from "vitest";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { findingsOf } from "../../compiler/diagnostics/report/findings.ts";
import { memoryHost } from "../../compiler/host.ts";
import { auditPrograms } from "../../compiler/inspect/audit/audit.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { gwc, installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

const jwt = `jwtAuth: {issuer: "https://id.example.com", audiences: [tools], jwks: {url: "https://id.example.com/keys"}}`;
const tools = `mcp: {targets: [{name: files, mcp: {host: "http://127.0.0.1:9/mcp"}}]}`;

function gateway(policies: string, backend: string, bind = ""): string {
  return `binds:
  - port: 3000${bind}
    listeners:
      - routes:
          - name: tools
            policies: {${policies}}
            backends: [{${backend}}]
`;
}

/** Codes of an audit beyond those of a check, without the metrics, which are open in every audit. */
function found(text: string): readonly string[] {
  return codes(text).filter((code) => code !== "public-metrics");
}

function codes(text: string): readonly string[] {
  const { programs, findings } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
  if (programs.length === 0) throw new Error(findings.map(({ message }) => message).join("\n"));
  return auditPrograms(programs).map(({ code }) => code);
}

/** Places of the findings about images by tag. */
function images(text: string): readonly string[] {
  const host = memoryHost({ "a.yaml": text });
  const { programs, files } = checkInput(["a.yaml"], host, false);
  if (programs.length === 0) throw new Error("there are mistakes");
  const found = auditPrograms(programs).filter(({ code }) => code === "unpinned-image");
  return findingsOf(found, files, false).map(({ location: { start, end } }) =>
    text.slice(start, end),
  );
}

/** Rights of pods beyond those that a gateway needs, as in the messages. */
function powers(text: string): readonly string[] {
  const { programs } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
  if (programs.length === 0) throw new Error("there are mistakes");
  return auditPrograms(programs)
    .filter(({ code }) => code === "powerful-pod")
    .map(({ code, params }) => messageOf(code).text(params as never));
}

/** A Gateway of manifests with the parameters of its class, and its own. */
function manifests(ofClass: string, own: string): string {
  const parameters = (name: string, spec: string) =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: ${name}}, spec: {${spec}}}`;
  const reference = (name: string) =>
    `parametersRef: {group: gwc.dev, kind: GatewayParameters, name: ${name}, namespace: default}`;
  return `
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: c}, spec: {controllerName: gwc.dev/gateway, ${reference("of-class")}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: c, infrastructure: {${reference("own").replace(", namespace: default", "")}}, listeners: [{name: a, port: 80, protocol: HTTP}]}}
---
${parameters("of-class", ofClass)}
---
${parameters("own", own)}
`;
}

/** The rules that never decide, as they are written. */
function dead(...rules: readonly string[]): readonly unknown[] {
  const policies = `${jwt}, mcpAuthorization: {rules: [${rules.join(", ")}]}`;
  const host = memoryHost({ "a.yaml": gateway(policies, tools) });
  return auditPrograms(checkInput(["a.yaml"], host, false).programs).flatMap((each) =>
    each.code === "dead-rule" ? [Object(each.params).rule] : [],
  );
}

describe("an audit finds", () => {
  it("MCP servers and models that everybody may use: open-backend", () => {
    expect(found(gateway("", tools))).toEqual(["open-backend"]);
    expect(found(gateway("", "ai: {name: a, provider: {openAI: {}}}"))).toContain("open-backend");
    const rule = `authorization: {rules: ['source.address == "10.0.0.1"']}`;
    expect(found(gateway(rule, "ai: {name: a, provider: {openAI: {}}}"))).not.toContain(
      "open-backend",
    );
    const optional = jwt.replace("{issuer", "{mode: optional, issuer");
    expect(found(gateway(optional, tools))).toContain("open-backend");
  });

  it("known callers who may use every tool: unruled-tools, and credentials-in-clear", () => {
    expect(found(gateway(jwt, tools))).toEqual(["unruled-tools", "credentials-in-clear"]);
    const local = gateway(jwt, tools, '\n    address: "127.0.0.1"');
    expect(found(local)).toEqual(["unruled-tools"]);
  });

  it("rules that read the model from one member of the body: body-model-rule", () => {
    const backend = "ai: {name: a, provider: {openAI: {}}}";
    for (const rule of [
      'json(request.body).model == "good"',
      'json(string(request.body))["model"] == "good"',
      'cel.bind(body, json(request.body), body.model == "good")',
    ])
      expect(found(gateway(`authorization: {rules: ['${rule}']}`, backend))).toContain(
        "body-model-rule",
      );
    const other = `authorization: {rules: ['json(request.body).stream == true']}`;
    expect(found(gateway(other, backend))).not.toContain("body-model-rule");
  });

  it("rules that never decide: dead-rule", () => {
    expect(dead('mcp.tool.name.startsWith("get-")', 'mcp.tool.name == "get-sum"')).toEqual([
      'mcp.tool.name == "get-sum"',
    ]);
    expect(dead('mcp.tool.name == "a" && mcp.tool.name == "b"', 'mcp.tool.name == "c"')).toEqual([
      'mcp.tool.name == "a" && mcp.tool.name == "b"',
    ]);
    expect(dead('mcp.tool.name == "a"', '{deny: mcp.tool.name == "a"}')).toEqual([
      'mcp.tool.name == "a"',
    ]);
    expect(dead('mcp.tool.name == "a"', 'jwt.sub == "ann" && mcp.tool.name == "b"')).toEqual([]);
  });

  it("servers whose certificates are not checked: unverified-server", () => {
    const backend = 'host: "127.0.0.1:9", policies: {backendTLS: {insecure: true}}';
    expect(found(gateway("", backend))).toEqual(["unverified-server"]);
    expect(found(gateway("", backend.replace("insecure: true", "")))).toEqual([]);
  });

  it("tokens that count for any audience: any-audience", () => {
    const anyToken = gateway(jwt.replace("audiences: [tools], ", ""), tools);
    expect(found(anyToken)).toContain("any-audience");
    expect(found(gateway(jwt, tools))).not.toContain("any-audience");
    const issuers = `jwtAuth: {providers: [{issuer: "https://a.example.com", audiences: [x], jwks: {url: "https://a.example.com/k"}}, {issuer: "https://b.example.com", jwks: {url: "https://b.example.com/k"}}]}`;
    const host = memoryHost({ "a.yaml": gateway(issuers, tools) });
    const { programs } = checkInput(["a.yaml"], host, false);
    const finding = auditPrograms(programs).find(({ code }) => code === "any-audience");
    expect(finding?.params).toEqual({ issuers: ["https://b.example.com"] });
  });

  it("contents of messages in the log: logged-content", () => {
    const logging = (field: string) =>
      `${gateway("", 'host: "127.0.0.1:9"')}\nconfig: {logging: {fields: {add: {it: "${field}"}}}}`;
    expect(found(logging("request.body"))).toContain("logged-content");
    expect(found(logging("llm.completion"))).toContain("logged-content");
    expect(found(logging("request.path"))).not.toContain("logged-content");
  });

  it("models on which nothing limits what a caller spends: unlimited-models", () => {
    const models = "ai: {name: a, provider: {openAI: {}}}";
    const limit = "localRateLimit: [{maxTokens: 9, tokensPerFill: 1, fillInterval: 60s}]";
    expect(found(gateway(jwt, models))).toContain("unlimited-models");
    expect(found(gateway(`${jwt}, ${limit}`, models))).not.toContain("unlimited-models");
    expect(found(gateway(jwt, tools))).not.toContain("unlimited-models");
  });

  it("ports that speak no TLS 1.3: no-tls13", () => {
    const text = gateway("", 'host: "127.0.0.1:9"');
    const secure = (version: string) =>
      text.replace(
        "      - routes:",
        `      - protocol: HTTPS\n        tls: {cert: a.crt, key: a.key${version}}\n        routes:`,
      );
    expect(found(secure(', maxTLSVersion: "1.2"'))).toEqual(["no-tls13"]);
    expect(found(secure(""))).toEqual([]);
  });

  it("metrics that everybody can read: public-metrics", () => {
    const text = gateway("", 'host: "127.0.0.1:9"');
    expect(codes(text)).toEqual(["public-metrics"]);
    expect(codes(`config: {statsAddr: "127.0.0.1:15020"}\n${text}`)).toEqual([]);
  });

  it("images by tag of servers that the gateway starts: unpinned-image", () => {
    const started = (cmd: string, args: readonly string[]) =>
      gateway(jwt, `mcp: {targets: [{name: a, stdio: ${JSON.stringify({ cmd, args })}}]}`);
    const image = (cmd: string, ...args: readonly string[]) => images(started(cmd, args));
    expect(image("docker", "run", "-i", "--rm", "-e", "TOKEN", "mcp/fetch", "--port")).toEqual([
      '"mcp/fetch"',
    ]);
    const [digest] = ["0123456789abcdef".repeat(4)];
    expect(image("docker", "run", "-ie", "A", "--env=B", `mcp/fetch@sha256:${digest}`)).toEqual([]);
    expect(image("docker", "run", "mcp/fetch@sha256:latest")).toHaveLength(1);
    expect(image("/usr/bin/podman", "--log-level", "error", "container", "run", "a:1")).toEqual([
      '"a:1"',
    ]);
    expect(image("docker", "exec", "-i", "run", "mcp/fetch")).toEqual([]);
    expect(image("docker", "run", "-i", "--rm")).toEqual([]);
  });

  it("images by tag of GatewayParameters and their overlays: unpinned-image", () => {
    const overlay = (image: string) =>
      `deployment: {spec: {template: {spec: {containers: [{name: side, image: ${image}}]}}}}`;
    expect(images(manifests(`image: {repository: gw, tag: "1"}`, ""))).toHaveLength(1);
    const pinned = `image: {repository: gw, tag: "1", digest: "sha256:${"0".repeat(64)}"}`;
    expect(images(manifests(pinned, ""))).toEqual([]);
    // Only what runs counts: the Gateway's own parameters win over those of its class.
    expect(images(manifests(overlay("side:1"), overlay("side:2")))).toEqual(["side:2"]);
    expect(images(manifests("", ""))).toEqual([]);
  });

  it.each([
    ["hostNetwork: true", "hostNetwork"],
    ["hostPID: true", "hostPID"],
    ["hostIPC: true", "hostIPC"],
    ["serviceAccountName: admin", "serviceAccountName"],
    ["automountServiceAccountToken: true", "automountServiceAccountToken"],
    ["volumes: [{name: v, hostPath: {path: /}}]", "hostPath"],
    ["securityContext: {runAsUser: 0}", "root"],
    ["containers: [{name: gateway, command: [sh]}]", "command"],
    ["containers: [{name: gateway, args: [x]}]", "args"],
    ["containers: [{name: gateway, lifecycle: {postStart: {exec: {command: [sh]}}}}]", "lifecycle"],
    ["containers: [{name: gateway, securityContext: {privileged: true}}]", "privileged"],
    [
      "containers: [{name: gateway, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]",
      "capabilities",
    ],
    ["containers: [{name: gateway, env: [{name: NODE_OPTIONS, value: x}]}]", "NODE_OPTIONS"],
    [
      "initContainers: [{name: i, image: 'a:1', securityContext: {privileged: true}}]",
      "privileged",
    ],
    ["containers: [{name: gateway, ports: [{containerPort: 80, hostPort: 80}]}]", "hostPort"],
  ])("rights of pods that overlays give (%s): powerful-pod", (pod, what) => {
    const overlay = `deployment: {spec: {template: {spec: {${pod}}}}}`;
    for (const text of [manifests(overlay, ""), manifests("", overlay)]) {
      const own = powers(text);
      expect(own).toHaveLength(1);
      expect(own[0]).toContain(what);
    }
  });

  it("variables of the gateway that load code: powerful-pod", () => {
    expect(powers(manifests("env: [{name: NODE_OPTIONS, value: '--import=x'}]", ""))).toHaveLength(
      1,
    );
    expect(powers(manifests("env: [{name: TOKEN, value: x}]", ""))).toEqual([]);
    const harmless =
      "securityContext: {runAsNonRoot: true, runAsUser: 1000}, hostNetwork: false, volumes: [{name: v, emptyDir: {}}]";
    expect(powers(manifests(`deployment: {spec: {template: {spec: {${harmless}}}}}`, ""))).toEqual(
      [],
    );
  });

  it("responses that callers share: shared-cache", () => {
    const backend = "ai: {provider: {openAI: {}}}";
    const cached = (cache: string) => gateway(`${jwt}, ai: {cache: ${cache}}`, backend);
    expect(found(cached("{ttl: 1m, key: jwt.team}"))).toContain("shared-cache");
    expect(found(cached("{ttl: 1m}"))).not.toContain("shared-cache");
  });

  it("servers that get the tokens of their clients: passed-token", () => {
    const backend = 'host: "127.0.0.1:9", policies: {backendAuth: {passthrough: {}}}';
    expect(found(gateway(jwt, backend))).toContain("passed-token");
  });
});

describe("gwc audit", () => {
  it("fails on a warning until it is accepted, and tells what is accepted and gone", async () => {
    const workspace = new Workspace({ "gateway.yaml": gateway("", tools) });
    const run = (...argv: readonly string[]) => gwc(["audit", ...argv], { cwd: workspace.folder });
    expect(await run()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("warning[open-backend]"),
    });
    workspace.write(".gwc-audit.yaml", (await run("--write-baseline")).stdout);
    expect(await run()).toMatchObject({
      code: 0,
      stderr: "gateway.yaml: nothing found, 2 accepted\n",
    });
    workspace.write("gateway.yaml", gateway("", 'host: "127.0.0.1:9"'));
    expect((await run()).stderr).toContain("note: accepted but no longer found: the route");
  });

  it("reports an invalid baseline, and mistakes of a configuration", () => {
    const workspace = new Workspace({
      "gateway.yaml": gateway("", tools),
      ".gwc-audit.yaml": "accepted: {a: 1}\n",
    });
    const run = () => installedGwc(["audit"], { cwd: workspace.folder });
    expect(run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is not a baseline"),
    });
    workspace.write(".gwc-audit.yaml", "accepted: []\n");
    workspace.write("gateway.yaml", "binds: 5\n");
    expect(run()).toMatchObject({ code: 1, stdout: expect.stringContaining("error[") });
  });
});
