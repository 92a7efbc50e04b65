import { expect, it } from "vitest";
import { parse } from "yaml";
import { kubernetesFiles } from "../../compiler/4-emit/emit.ts";
import { ownClassManifest } from "./gateway-manifest.ts";
import { checkManifests, complaints } from "./manifests.ts";

function parameters(name: string, spec: string): string {
  return `{apiVersion: gwc.dev/v1alpha1, kind: GatewayParameters, metadata: {name: ${name}}, spec: {${spec}}}`;
}

function gateway(more = ""): string {
  return `${ownClassManifest}
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: ours
  infrastructure:
    labels: {team: a}
    parametersRef: {group: agentgateway.dev, kind: AgentgatewayParameters, name: own}
  listeners:
    - {name: s, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: cert}, data: {tls.crt: SECRETVALUE, tls.key: SECRETVALUE}}
${more}`;
}

function build(ofClass: string, own: string, image?: string) {
  const text = [gateway(), parameters("of-class", ofClass), parameters("own", own)].join("\n---\n");
  const checked = checkManifests(text);
  const { program } = checked;
  if (program === undefined) throw new Error(complaints(checked).join("\n"));
  const files = kubernetesFiles(program, Buffer.from("bundle"), "digest", { image });
  return {
    checked,
    program,
    texts: files.map(({ text: each }) => each).join("\n"),
    names: files.map(({ path }) => path.replace(/^kubernetes\/(.*)\.yaml$/, "$1")),
    read: (name: string) => parse(files.find(({ path }) => path.includes(`/${name}.`))?.text ?? ""),
  };
}

it("writes what runs the bundle, and a budget and an autoscaler only when asked for", () => {
  expect(build("", "").names).toEqual(["service-account", "config-map", "deployment", "service"]);
  const { names, read } = build(
    "podDisruptionBudget: {spec: {minAvailable: 1}}",
    "horizontalPodAutoscaler: {spec: {maxReplicas: 4}}",
    "registry.example.com/gw:1",
  );
  expect(names).toContain("pod-disruption-budget");
  expect(names).not.toContain("config-map");
  expect(read("horizontal-pod-autoscaler").spec).toEqual({
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "gw" },
    maxReplicas: 4,
  });
  expect(read("deployment").spec.replicas).toBeUndefined();
  const [container] = read("deployment").spec.template.spec.containers;
  expect(container.image).toBe("registry.example.com/gw:1");
  expect(container.command).toBeUndefined();
});

it("asks the load balancer for the addresses that the Gateway asks for", () => {
  const service = (addresses: string) => {
    const text = gateway().replace("  listeners:", `  addresses: [${addresses}]\n  listeners:`);
    const { program } = checkManifests(
      [text, parameters("of-class", ""), parameters("own", "")].join("\n---\n"),
    );
    const files = program && kubernetesFiles(program, Buffer.from("bundle"), "digest", {});
    return parse(files?.find(({ path }) => path.includes("/service.yaml"))?.text ?? "");
  };
  expect(service("{value: 192.0.2.1}").spec).toMatchObject({
    type: "LoadBalancer",
    loadBalancerIP: "192.0.2.1",
  });
  const both = service("{value: 192.0.2.1}, {value: '2001:db8::1'}");
  expect(both.spec).toMatchObject({ type: "LoadBalancer", ipFamilyPolicy: "PreferDualStack" });
  expect(both.spec).not.toHaveProperty("loadBalancerIP");
  const asked = "192.0.2.1,2001:db8::1";
  expect(both.metadata.annotations).toMatchObject({
    "metallb.io/loadBalancerIPs": asked,
    "lbipam.cilium.io/ips": asked,
    "kube-vip.io/loadbalancerIPs": asked,
  });
  expect(service("{type: IPAddress}").spec).not.toHaveProperty("loadBalancerIP");
  expect(build("", "").read("service").spec).not.toHaveProperty("loadBalancerIP");
});

it("mounts Secrets and never copies their values", () => {
  const { program, texts, read } = build("", "");
  const { spec } = read("deployment").spec.template;
  expect(spec.containers[0].volumeMounts).toContainEqual({
    name: "secret-cert",
    mountPath: "/etc/gwc/secrets/cert",
    readOnly: true,
  });
  expect(spec.volumes).toContainEqual({
    name: "secret-cert",
    secret: { secretName: "cert", defaultMode: 0o440 },
  });
  expect(texts + JSON.stringify(program)).not.toContain("SECRETVALUE");
  expect(program.binds[0]?.listeners[0]?.tls).toEqual({
    cert: "cert/tls.crt",
    key: "cert/tls.key",
    isSecret: true,
  });
});

it("keeps to restricted pod security with a read-only root file system", () => {
  const { spec } = build("", "").read("deployment").spec.template;
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  for (const container of [...spec.containers, ...spec.initContainers]) {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  }
});

it("lays the Gateway's fields over the class's, then the class's overlays, then the Gateway's", () => {
  const { program, read } = build(
    "logging: {format: json}, shutdown: {min: 1, max: 20}, env: [{name: A, value: class}], " +
      "deployment: {metadata: {labels: {x: class, y: class}}, spec: {replicas: 2}}",
    "shutdown: {min: 2, max: 30}, env: [{name: A, value: own}, {name: B, value: own}], " +
      "deployment: {metadata: {labels: {x: own}}, spec: {template: {spec: {containers: [{name: gateway, env: [{name: B, $patch: delete}]}]}}}}",
  );
  expect(program.process).toMatchObject({
    logFormat: "json",
    drain: { min: 2000, max: 30000 },
  });
  const deployment = read("deployment");
  expect(deployment.metadata.labels).toMatchObject({ x: "own", y: "class", team: "a" });
  expect(deployment.spec.replicas).toBe(2);
  expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBe(35);
  expect(deployment.spec.template.spec.containers[0].env.slice(2)).toEqual([
    { name: "CONNECTION_MIN_TERMINATION_DEADLINE", value: "2s" },
    { name: "TERMINATION_GRACE_PERIOD_SECONDS", value: "35" },
    { name: "A", value: "own" },
  ]);
});

it("takes the raw configuration under the typed fields, and refuses what is no part of it", () => {
  const raw = "rawConfig: {config: {logging: {format: json}, statsAddr: '0.0.0.0:9000'}}";
  const { program } = build(raw, "logging: {format: text}");
  expect(program.process).toMatchObject({
    logFormat: "text",
    addresses: { stats: "0.0.0.0:9000" },
  });
  expect(() => build("", "rawConfig: {bind: []}")).toThrow(/rawConfig has no field "bind"/);
});

it("pods without metrics and readiness have neither probes nor a port to scrape", () => {
  const { read } = build("", "rawConfig: {config: {statsAddr: 'off', readinessAddr: 'off'}}");
  const { metadata, spec } = read("deployment").spec.template;
  expect(Object.keys(metadata.annotations).join()).not.toContain("prometheus");
  expect(spec.containers[0]).not.toHaveProperty("readinessProbe");
  const ports = spec.containers[0].ports.map((port: { name: string }) => port.name);
  expect(ports).not.toContain("metrics");
});

it("a variable of the parameters replaces the usual one", () => {
  const { read } = build(
    "env: [{name: A, value: class}, {name: NAMESPACE, value: elsewhere}]",
    "env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, " +
      "{name: CONNECTION_MIN_TERMINATION_DEADLINE, $patch: delete}, {name: B, value: $(A)-$$(A)}]",
  );
  expect(read("deployment").spec.template.spec.containers[0].env).toEqual([
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "NAMESPACE", value: "elsewhere" },
    { name: "TERMINATION_GRACE_PERIOD_SECONDS", value: "65" },
    { name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
    { name: "B", value: "$(A)-$$(A)" },
  ]);
});

it("takes the raw frontend under what policies say, and merges raw configurations deeply", () => {
  const { program } = build(
    "rawConfig: {config: {logging: {format: json, filter: 'true'}}, " +
      "frontendPolicies: {http: {http1MaxHeaders: 7, maxBufferSize: 5}, tcp: {maxConnections: 3}}}",
    "rawConfig: {config: {logging: {filter: 'false'}}, frontendPolicies: {http: {http1MaxHeaders: 8}}}",
  );
  expect(program.process.logFormat).toBe("json");
  expect(program.accessLog?.filter?.source).toBe("false");
  expect(program.maxBufferSize).toBe(5);
  expect(program.connections).toMatchObject({ maxHeaders: 8, maxConnections: 3 });
});

it("takes windows and times of policies as far as they can be kept", () => {
  const policy =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gw}], " +
    "frontend: {http: {http2WindowSize: 1099511627776, http2ConnectionWindowSize: 1, http1IdleTimeout: 99999h}}}}";
  const documents = [gateway(), parameters("of-class", ""), parameters("own", ""), policy];
  const { program } = checkManifests(documents.join("\n---\n"));
  expect(program?.connections).toMatchObject({
    idleTimeout: 2_147_000_000,
    http2: { windowSize: 2_147_483_647, connectionWindowSize: 65_535 },
  });
});

it("puts the image together of what the class and the Gateway say of it", () => {
  const image = (ofClass: string, own: string) =>
    build(ofClass, own).read("deployment").spec.template.spec.containers[0];
  const made = image(
    "image: {registry: r.example.com, repository: gw, tag: one, pullPolicy: Always}",
    "image: {tag: two, digest: 'sha256:abc'}",
  );
  expect(made).toMatchObject({
    image: "r.example.com/gw:two@sha256:abc",
    imagePullPolicy: "Always",
  });
  expect(() => build("image: {registry: r.example.com}", "image: {tag: two}")).toThrow(
    /image-without-repository: the image has no repository/,
  );
  expect(image("image: {pullPolicy: Never}", "")).toMatchObject({ imagePullPolicy: "Never" });
});

it("takes resources as they are, and refuses a mesh that it could not be a part of", () => {
  const resources = { limits: { memory: "256Mi" }, requests: { cpu: "100m" } };
  const { read } = build(
    "resources: {limits: {cpu: 1}}",
    `resources: ${JSON.stringify(resources)}`,
  );
  expect(read("deployment").spec.template.spec.containers[0].resources).toEqual(resources);
  for (const name of ["mesh", "istio"]) {
    expect(() => build("", `${name}: {trustDomain: a}`)).toThrow(
      /mesh-without-controller: only a controller/,
    );
  }
});

it("refuses invalid quantities", () => {
  for (const quantity of ["500mec", "-", "1 Gi", "[]"])
    expect(() => build("", `resources: {limits: {cpu: ${JSON.stringify(quantity)}}}`)).toThrow(
      /wrong-type: "cpu" must be a quantity such as/,
    );
  for (const [own, unknown] of [
    ["resources: {limit: {cpu: 1}}", /"resources" has no field "limit"/],
    ["env: [{name: A, valu: b}]", /an item of "env" has no field "valu"/],
    [
      "env: [{name: A, valueFrom: {secretKeyReff: {name: a, key: b}}}]",
      /"valueFrom" has no field "secretKeyReff"/,
    ],
  ] as const)
    expect(complaints(build("", own).checked)).toContainEqual(expect.stringMatching(unknown));
  const { checked } = build("", 'resources: {requests: {cpu: 1.5, memory: "1e9", "a/b": 2}}');
  expect(complaints(checked).join()).not.toMatch(/quantity|has no field/);
});

it("gives each gateway a name of at most 63 characters, and two of them two", () => {
  const long = "a".repeat(80);
  const names = [`${long}-one`, `${long}-two`].map((name) => {
    const named = gateway().replaceAll("{name: gw}", `{name: ${name}}`);
    const documents = [named, parameters("of-class", ""), parameters("own", "")];
    const { program } = checkManifests(documents.join("\n---\n"));
    return program?.deployment?.name;
  });
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^a{50}-[0-9a-f]{12}$/);
});

it.each([
  ["MCP servers", "{mcp: {targets: [{name: a, static: {host: a, port: 1}}]}}"],
  [
    "stored responses",
    '{ai: {provider: {openai: {}}}, policies: {auth: {key: k}, ai: {routes: {"/v1/responses": Responses}}}}',
  ],
])("gives pods of %s the key of their clients, from a Secret that need not be there", (_, spec) => {
  const backend = `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: b}, spec: ${spec}}`;
  const route = `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: b}]}]}}`;
  const policy =
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {apiKeyAuthentication: {secretRef: {name: keys}}}}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {ann: some-long-key-of-ann}}";
  const plain = build("", "").read("deployment").spec.template.spec.containers[0];
  expect(JSON.stringify(plain.env)).not.toContain("SESSION_KEY");
  const { program } = checkManifests(
    [gateway(), parameters("of-class", ""), parameters("own", ""), backend, route, policy].join(
      "\n---\n",
    ),
  );
  if (program === undefined) throw new Error("refused");
  const text = kubernetesFiles(program, Buffer.from("bundle"), "digest", { image: "x" }).find(
    ({ path }) => path.includes("deployment"),
  )?.text;
  const [container] = parse(text ?? "").spec.template.spec.containers;
  expect(container.env).toContainEqual({
    name: "SESSION_KEY",
    valueFrom: { secretKeyRef: { name: "gw-session-key", key: "key", optional: true } },
  });
});

it("gives pods with limits of an hour and longer a folder for what is used, which an overlay may replace", () => {
  const documents = (unit: string, own: string) => [
    gateway(),
    parameters("of-class", ""),
    parameters("own", own),
    "{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: llm}, spec: {ai: {provider: {openai: {}}}}}",
    "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: llm}]}]}}",
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: p}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], traffic: {rateLimit: {local: [{tokens: 5000, unit: ${unit}}]}}}}`,
  ];
  const podOf = (unit: string, own = "") => {
    const checked = checkManifests(documents(unit, own).join("\n---\n"));
    if (checked.program === undefined) throw new Error(complaints(checked).join("\n"));
    const files = kubernetesFiles(checked.program, Buffer.from("b"), "digest", { image: "x" });
    const text = files.find(({ path }) => path.includes("deployment"))?.text ?? "";
    return parse(text).spec.template.spec;
  };
  expect(JSON.stringify(podOf("Minutes"))).not.toContain("GWC_STATE_DIR");
  const { containers, volumes } = podOf("Hours");
  expect(containers[0].env).toContainEqual({ name: "GWC_STATE_DIR", value: "/var/lib/gwc" });
  expect(containers[0].volumeMounts).toContainEqual({ name: "state", mountPath: "/var/lib/gwc" });
  expect(volumes).toContainEqual({ name: "state", emptyDir: {} });
  const volume = "{name: state, emptyDir: null, persistentVolumeClaim: {claimName: spent}}";
  const overlay = `deployment: {spec: {template: {spec: {volumes: [${volume}]}}}}`;
  expect(podOf("Hours", overlay).volumes).toContainEqual({
    name: "state",
    persistentVolumeClaim: { claimName: "spent" },
  });
});

it("refuses invalid overlay directives", () => {
  expect(() => build("", "deployment: {spec: {strategy: {$patch: remove}}}")).toThrow(
    /unknown-directive: overlays have no directive `\$patch: "remove"`/,
  );
  expect(() => build("", "service: {spec: {ports: [{$path: delete}]}}")).toThrow(
    /unknown-directive: overlays have no directive `\$path`/,
  );
  const strategy = "{$retainKeys: [type], type: Recreate}";
  const { read } = build(
    "deployment: {spec: {strategy: {rollingUpdate: {maxSurge: 1}, type: RollingUpdate}}}",
    `deployment: {spec: {strategy: ${strategy}}}`,
  );
  expect(read("deployment").spec.strategy).toEqual({ type: "Recreate" });
});

it("takes the gateway's container by the name that others give it, too", () => {
  const overlay = (name: string) =>
    `deployment: {spec: {template: {spec: {containers: [{name: ${name}, env: [{name: A, value: b}]}]}}}}`;
  const [own, other] = ["gateway", "agentgateway"].map(
    (name) => build("", overlay(name)).read("deployment").spec.template.spec.containers,
  );
  expect(other).toEqual(own);
  expect(own).toHaveLength(1);
  expect(own[0].env).toContainEqual({ name: "A", value: "b" });
});

it("refuses overlays of which no Deployment comes", () => {
  const laid = (spec: string) => () => build("", `deployment: {spec: ${spec}}`);
  const pod = (container: string) => `{template: {spec: {containers: [${container}]}}}`;
  expect(laid(pod("{name: sidecar}"))).toThrow(/the container "sidecar" has no image/);
  expect(laid(pod("{image: a}"))).toThrow(/every container of an overlay requires a name/);
  expect(laid(pod("{name: gateway, $patch: delete}"))).toThrow(/remove the container "gateway"/);
  expect(laid("{selector: {matchLabels: {a: b}}}")).toThrow(/cannot change the selector/);
  expect(laid("{replicas: many}")).toThrow(
    /wrong-type: "replicas" must be a whole number, not a string/,
  );
  expect(laid("{replicas: -1}")).toThrow(/"replicas" cannot be negative/);
  expect(laid(pod("{name: gateway, env: [{value: a}]}"))).toThrow(
    /every item of "env" requires "name", by which the list is merged/,
  );
  const { checked } = build("", "deployment: {spec: {replica: 2}}");
  expect(complaints(checked)).toEqual([
    expect.stringMatching(/unknown-resource-field: "spec" has no field "replica" in Kubernetes/),
  ]);
});

it("refuses overlays of which no other resource comes", () => {
  expect(() => build("", "serviceAccount: {spec: {imagePullSecrets: [{name: a}]}}")).toThrow(
    /a ServiceAccount has no spec: its overlay can only have labels and annotations/,
  );
  expect(() => build("", "service: {spec: {type: ExternalName, externalName: a.test}}")).toThrow(
    /does not route to pods/,
  );
  expect(() => build("", "service: {spec: {ports: {port: 80}}}")).toThrow(
    /"ports" must be a list, not a mapping/,
  );
  const budget = (spec: string) => `podDisruptionBudget: {spec: {${spec}}}`;
  expect(() => build(budget("minAvailable: 1"), budget("maxUnavailable: 1"))).toThrow(
    /cannot have both/,
  );
  expect(() => build("", "horizontalPodAutoscaler: {}")).toThrow(/requires "maxReplicas"/);
  const bounds = "horizontalPodAutoscaler: {spec: {minReplicas: 3, maxReplicas: 2}}";
  expect(() => build("", bounds)).toThrow(/"minReplicas" cannot exceed "maxReplicas"/);
});

it("takes log levels, the typed ones over those of the raw configuration", () => {
  const raw = "rawConfig: {config: {logging: {level: [debug]}}}";
  expect(build("", "").program.logLevels).toBeUndefined();
  expect(build("", raw).program.logLevels?.connection).toBe("debug");
  expect(build("logging: {level: 'warn,request=off'}", raw).program.logLevels).toEqual({
    request: "off",
    gateway: "warn",
    connection: "warn",
  });
  expect(() => build("", "logging: {level: 'warn,reqest=off'}")).toThrow(
    /log-module: the log has no part "reqest"/,
  );
});

it("refuses a grace period that is shorter than the drain", () => {
  const short = "deployment: {spec: {template: {spec: {terminationGracePeriodSeconds: 5}}}}";
  expect(() => build("", `shutdown: {min: 0, max: 10}, ${short}`)).toThrow(
    /grace-too-short: pods would be killed after 5 s, but draining them can take 10 s/,
  );
  const told = "env: [{name: TERMINATION_GRACE_PERIOD_SECONDS, value: '300'}]";
  expect(() => build("", `shutdown: {min: 0, max: 10}, ${told}`)).toThrow(
    /grace-too-short: pods would be killed after 15 s, but draining them can take 295 s/,
  );
});

it("serves with as many threads as the variable or the raw configuration says, the Gateway's own over its class's", () => {
  const raw = 'rawConfig: {config: {workerThreads: "50%"}}';
  const variable = (value: string): string =>
    `env: [{name: A, value: b}, {name: WORKER_THREADS, value: "${value}"}]`;
  const threads = (ofClass: string, own: string): unknown =>
    build(ofClass, own).program.process.workers;
  expect(threads("", "")).toBeUndefined();
  expect(threads(raw, "")).toEqual({ percent: 50 });
  expect(threads(raw, variable("4"))).toBe(4);
  expect(threads(variable("2"), variable("25%"))).toEqual({ percent: 25 });
  expect(threads(raw, variable("1"))).toBeUndefined();
  expect(threads(raw, "rawConfig: {config: {workerThreads: 1}}")).toBeUndefined();
  const { read } = build("", variable("4"));
  const [container] = read("deployment").spec.template.spec.containers;
  expect(container.env).toContainEqual({ name: "WORKER_THREADS", value: "4" });
});

it("runs a DaemonSet if asked for, with its overlay", () => {
  const { names, read } = build(
    "workload: {kind: DaemonSet}",
    "daemonSet: {spec: {updateStrategy: {type: OnDelete}, template: {spec: {containers: [{name: agentgateway, resources: {limits: {cpu: 1}}}]}}}}",
  );
  expect(names).toEqual(["service-account", "config-map", "daemon-set", "service"]);
  const { kind, spec } = read("daemon-set");
  expect(kind).toBe("DaemonSet");
  expect(spec).not.toHaveProperty("replicas");
  expect(spec.updateStrategy).toEqual({ type: "OnDelete" });
  expect(spec.template.spec.containers).toHaveLength(1);
  expect(spec.template.spec.containers[0].resources.limits).toEqual({ cpu: 1 });
  expect(build("workload: {kind: DaemonSet}", "workload: {kind: Deployment}").names).toContain(
    "deployment",
  );
});

it("reports overlays of a workload that is not the chosen one, and powers in the one that is", () => {
  const found = (own: string) => {
    const text = [gateway(), parameters("of-class", ""), parameters("own", own)].join("\n---\n");
    return complaints(checkManifests(text)).join("\n");
  };
  expect(found("daemonSet: {spec: {minReadySeconds: 1}}")).toContain(
    '"daemonSet" has no effect if the kind of "workload" is Deployment',
  );
  const daemon = "workload: {kind: DaemonSet}";
  expect(found(`${daemon}, deployment: {spec: {minReadySeconds: 1}}`)).toContain(
    '"deployment" has no effect if the kind of "workload" is DaemonSet',
  );
  expect(found(`${daemon}, horizontalPodAutoscaler: {spec: {maxReplicas: 4}}`)).toContain(
    '"horizontalPodAutoscaler" has no effect',
  );
  const { program } = build(
    "",
    `${daemon}, daemonSet: {spec: {template: {spec: {hostNetwork: true}}}}`,
  );
  expect(program.deployment?.podPowers.map(({ what }) => what)).toEqual([
    "the network of its node (hostNetwork)",
  ]);
});
