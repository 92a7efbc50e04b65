import { didYouMean, message } from "./message.ts";

/** Diagnostics about references between Kubernetes manifests, and what they lead to. */
export const referenceMessages = {
  "missing-reference": message<{
    what: string;
    candidates: readonly string[];
    near?: string;
    /** Hint about what was most likely meant. */
    instead?: string;
    /** Hint about where to add it. */
    place?: string;
  }>({
    severity: "error",
    text: ({ what }) => `there is no ${what}`,
    hint: ({ candidates, near, instead, place }) =>
      instead ??
      didYouMean(near) ??
      (candidates.length === 0 ? place : `there is ${candidates.slice(0, 5).join(", ")}`),
    explanation:
      "Everything that the configuration refers to must be in the input; otherwise it would be missing in the gateway " +
      "too.",
  }),
  "missing-secret": message<{ what: string }>({
    severity: "error",
    text: ({ what }) => `there is no ${what}`,
    hint: () => "add it, or a stub without values: only its name and keys are read",
    explanation:
      "Secrets are mounted where the gateway runs; the compiler never reads their values. It checks that a Secret " +
      "exists because a gateway without its certificate or credential does not start. A Secret with keys and empty " +
      "values is enough.",
  }),
  "missing-key": message<{ what: string; key: string }>({
    severity: "error",
    text: ({ what, key }) => `${what} has no key "${key}"`,
    explanation: "The gateway reads this entry, but it does not exist.",
  }),
  "broken-entry": message<{ what: string; key: string; problem: string }>({
    severity: "error",
    text: ({ what, key, problem }) => `"${key}" of ${what} ${problem}`,
    hint: () => "leave the value empty to use the one in the cluster",
    explanation:
      "The data plane reads entries of Secrets and ConfigMaps: certificates and certificate authorities as PEM, " +
      "passwords as `USER:HASH` lines, credentials as one line. If it cannot read an entry, everything that needs the " +
      "entry answers with an error. The message never shows the value.",
  }),
  "unusable-entry": message<{ what: string; key: string; problem: string }>({
    severity: "warning",
    text: ({ what, key, problem }) => `"${key}" of ${what} ${problem}`,
    hint: ({ what }) =>
      what.startsWith("ConfigMap")
        ? "write {keyHash, metadata, allowedModels} as JSON"
        : "write the plain key, or {key or keyHash, metadata, allowedModels} as JSON",
    explanation:
      "Each entry of a Secret or ConfigMap with API keys is one key. An unreadable entry admits no one; the other entries are used. " +
      "Values are checked where they are available: by the controller, and by `gwc check --cluster`.",
  }),
  "unusable-entries": message<{ what: string; count: number }>({
    severity: "warning",
    text: ({ what, count }) =>
      count === 1
        ? `another entry of ${what} is no API key either`
        : `${count} other entries of ${what} are no API keys either`,
    explanation:
      "Only the first unreadable entries are named. Each of them admits no one; the other entries are used.",
  }),
  "too-many-entries": message<{ what: string; unit: "entries" | "Secrets"; limit: number }>({
    severity: "error",
    text: ({ what, unit, limit }) => `${what} has more than ${limit.toLocaleString("en")} ${unit}`,
    hint: ({ unit }) =>
      unit === "entries"
        ? "split it, one part for each policy"
        : "select fewer, with several entries each",
    explanation:
      "Tenants of a Gateway share its data planes and its controller. A Secret may have 10,000 entries, and the API keys " +
      "of a policy may be in 1,000 Secrets with 200,000 entries. A policy or listener that reads more is closed; everything " +
      "else is served.",
  }),
  "namespace-too-large": message<{ namespace: string; size: number }>({
    severity: "error",
    text: ({ namespace, size }) =>
      `the rules of namespace "${namespace}" at this Gateway have more than ${size.toLocaleString("en")} characters`,
    hint: () =>
      "target fewer rules with large policies, or use another Gateway for some of the routes",
    explanation:
      "Tenants of a Gateway share the memory of its data planes and its compiler. The characters of matches, policies and " +
      "backends are counted for each rule, because each rule has its own code; policies of other namespaces, such as " +
      "those of the Gateway, are not counted. Rules are counted by age of their routes. Those beyond the limit answer 500.",
  }),
  "wrong-reference-kind": message<{
    found: string;
    allowed: string;
    /** Hint about what was most likely meant. */
    instead?: string;
  }>({
    severity: "error",
    text: ({ found }) => `a reference to a ${found} is not allowed here`,
    hint: ({ allowed, instead }) => instead ?? `allowed here: ${allowed}`,
    explanation: "Each reference allows only some kinds.",
  }),
  "reference-not-permitted": message<{
    from: string;
    fromGroup: string;
    fromNamespace: string;
    to: string;
    toGroup: string;
    toKind: string;
    toNamespace: string;
  }>({
    severity: "error",
    text: ({ from, to }) => `${from} may not refer to ${to}: no ReferenceGrant allows it`,
    hint: ({ from, fromGroup, fromNamespace, toGroup, toKind, toNamespace }) =>
      `a ReferenceGrant in "${toNamespace}" with from: [{group: ${JSON.stringify(fromGroup)}, kind: ${from.split(" ")[0]}, ` +
      `namespace: ${fromNamespace}}] and to: [{group: ${JSON.stringify(toGroup)}, kind: ${toKind}}] would`,
    explanation:
      "A reference to another namespace requires a ReferenceGrant in that namespace (Gateway API).",
  }),
  "missing-section": message<{ what: string; section: string; candidates: readonly string[] }>({
    severity: "error",
    text: ({ what, section }) => `${what} has no "${section}"`,
    hint: ({ candidates }) =>
      candidates.length === 0 ? undefined : `it has ${candidates.join(", ")}`,
    explanation:
      "`sectionName` selects a part: a listener, a rule, a port of a Service, or a target or provider of a backend.",
  }),
  "missing-port": message<{ what: string; candidates: readonly string[] }>({
    severity: "error",
    text: ({ what }) => `the reference to ${what} needs a port`,
    hint: ({ candidates }) =>
      candidates.length === 0 ? undefined : `it has ${candidates.join(", ")}`,
    explanation:
      "A Service is reached at one of its ports (Gateway API: `port` is required for a Service).",
  }),
  "loopback-service": message<{ what: string; host: string }>({
    severity: "warning",
    text: ({ what, host }) => `${what} resolves to "${host}", which is the gateway's own pod`,
    hint: () => "use a server in another pod, or the address of the container in this pod",
    explanation:
      "Clients of an ExternalName Service with a loopback name or address connect to themselves. Through a gateway, " +
      "its clients reach ports in the gateway's own pod: other containers and pages that should stay private (the " +
      "class of CVE-2021-32783). The gateway's own pages are an error (`own-port`).",
  }),
  "not-a-tcp-port": message<{ what: string; port: number; protocol: string }>({
    severity: "error",
    text: ({ what, port, protocol }) => `port ${port} of ${what} takes ${protocol}`,
    hint: () => "use a TCP port, or correct the `protocol` of the Service",
    explanation: "Requests and calls to policy servers use TCP.",
  }),
  "other-port": message<{ what: string; address: string }>({
    severity: "warning",
    text: ({ what, address }) => `this port has no effect: ${what} is at ${address}`,
    hint: () => "remove it, or correct the port of the backend",
    explanation:
      "A GatewayBackend contains its own port, and a reference to it needs none (Gateway API: `port` is for Services). " +
      "A different port in the reference has no effect.",
  }),
  "ambiguous-key-server": message<{ what: string }>({
    severity: "error",
    text: ({ what }) => `${what} is not a server with a single address`,
    hint: () => "refer to a Service or to a GatewayBackend with `static`",
    explanation: "A key set is fetched from one server: a Service or a static backend.",
  }),
  "gateway-address": message<{
    problem: string;
    /** The condition's reason (Gateway API). */
    cause: "UnsupportedAddress" | "AddressNotUsable";
  }>({
    severity: "error",
    text: ({ problem }) => `this address ${problem}`,
    hint: () => "use an IP address, with type: IPAddress",
    explanation:
      "The Service of a Gateway requests its addresses from the load balancer of the cluster: one with " +
      "`loadBalancerIP`, several with the annotations of MetalLB, Cilium and kube-vip. Load balancers assign hostnames " +
      "themselves.",
  }),
  "rule-of-models": message<{ reason: string; cause: "InvalidKind" | "ModelRoutingConflict" }>({
    severity: "error",
    text: ({ reason }) => `the rule cannot serve models: ${reason}`,
    explanation:
      "A rule of an HTTPRoute serves the GatewayModels that name the route as a parent. Its only backendRef has the kind " +
      "GatewayModel and the name `*`, and its paths are prefixes, because clients add the paths of their APIs.",
  }),
  "model-of-target": message<{ target: string; serves: string; model: string | undefined }>({
    severity: "error",
    text: ({ target, serves, model }) =>
      model === undefined
        ? `${target} serves "${serves}", so the target must name a model`
        : `${target} does not serve "${model}"`,
    hint: ({ serves, model }) =>
      model === undefined ? `add model: NAME, which "${serves}" matches` : `it serves "${serves}"`,
    explanation:
      "A target of a virtual model is one model. If a GatewayModel has a name with `*`, the target's `model` says which " +
      "of its models is meant.",
  }),
};
