import { didYouMean, message } from "./message.ts";

/** Kubernetes documents: what they are, what they refer to, how they fit together. */
export const kubernetesMessages = {
  "skipped-kind": message<{ kind: string }>({
    severity: "note",
    text: ({ kind }) => `${kind} is no kind that a gateway is made of; skipped`,
    explanation:
      "Folders of manifests hold many kinds. gwc reads the Gateway API's, its own, and the core kinds that they refer " +
      "to; the others are left out.",
  }),
  "unknown-kind": message<{ kind: string; group: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ kind, group }) => `${group} has no kind "${kind}"`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "In the API groups of gateways a kind that is not known is a misspelling: skipping it would drop what it says.",
  }),
  "wrong-version": message<{ kind: string; found: string; known: string }>({
    severity: "error",
    text: ({ kind, found }) => `${kind} has no version "${found}"`,
    hint: ({ known }) => `known here: ${known}`,
    explanation:
      "A kind's fields belong to a version of its API group. gwc does not guess what another version means.",
  }),
  "mixed-forms": message<Record<never, never>>({
    severity: "error",
    text: () => "this is a standalone configuration, but other documents are Kubernetes manifests",
    hint: () => "compile them one by one: a gateway is written in one form or the other",
    explanation:
      "A document with `apiVersion` and `kind` is a Kubernetes manifest, any other one a standalone file. One build reads " +
      "one form.",
  }),
  "duplicate-resource": message<{ resource: string }>({
    severity: "error",
    text: ({ resource }) => `${resource} is declared twice`,
    explanation:
      "A resource has one declaration: which of two would win depends on their order, and order means nothing.",
  }),
  "nested-too-deep": message<{ levels: number }>({
    severity: "error",
    text: ({ levels }) => `the resource nests lists and objects over more than ${levels} levels`,
    explanation:
      "Nobody writes that many by hand, and what reads thousands of them runs out of memory: the resource is not read.",
  }),
  "no-gateway": message<{ found: string | undefined }>({
    severity: "error",
    text: ({ found }) =>
      found === undefined
        ? "there is no Gateway of gwc's in these manifests"
        : `there is no Gateway "${found}" in these manifests`,
    explanation:
      "A bundle is one Gateway with its listeners and what attaches to them. Routes and policies alone make none, and " +
      "Gateways of other controllers' classes are left to them.",
  }),
  "several-gateways": message<{ names: readonly string[] }>({
    severity: "error",
    text: ({ names }) => `there are ${names.length} Gateways in these manifests`,
    hint: ({ names }) => `name one: --gateway ${names[0]}`,
    explanation: "One process serves one Gateway. `gwc build` makes a bundle of each.",
  }),
  "foreign-gateway": message<{ gateway: string; controller: string }>({
    severity: "note",
    text: ({ gateway, controller }) => `${gateway} is left to its controller, "${controller}"`,
    hint: () => 'a GatewayClass with the controllerName "gwc.dev/gateway" makes it one of gwc\'s',
    explanation:
      "A GatewayClass says who implements its Gateways. gwc compiles those of its own classes (controllerName " +
      "`gwc.dev/gateway` or `agentgateway.dev/agentgateway`) and those whose class is not in the input.",
  }),
  "missing-reference": message<{
    what: string;
    candidates: readonly string[];
    near?: string;
    /** What was meant most likely, as a hint. */
    instead?: string;
    /** Where such a thing would stand. */
    place?: string;
  }>({
    severity: "error",
    text: ({ what }) => `there is no ${what}`,
    hint: ({ candidates, near, instead, place }) =>
      instead ??
      didYouMean(near) ??
      (candidates.length === 0 ? place : `there is ${candidates.slice(0, 5).join(", ")}`),
    explanation:
      "Everything that is referred to must be in the input: what is missing here would be missing in the gateway.",
  }),
  "missing-secret": message<{ what: string }>({
    severity: "error",
    text: ({ what }) => `there is no ${what}`,
    hint: () => "add it, or a stub without data: only its name and keys are read, never a value",
    explanation:
      "A Secret is mounted where the gateway runs; its values are never read by the compiler. That it exists is checked, " +
      "because a gateway without its certificate or credential does not start. A Secret document without `data` and " +
      "`stringData` is enough.",
  }),
  "missing-key": message<{ what: string; key: string }>({
    severity: "error",
    text: ({ what, key }) => `${what} has no key "${key}"`,
    explanation: "The part of the Secret or ConfigMap that the gateway reads is not there.",
  }),
  "broken-entry": message<{ what: string; key: string; problem: string }>({
    severity: "error",
    text: ({ what, key, problem }) => `"${key}" of ${what} ${problem}`,
    hint: () => "an entry without a value stands for the one that the cluster has",
    explanation:
      "Entries of Secrets and ConfigMaps are read by the data plane: authorities and certificates as PEM, passwords as `USER:HASH` lines, credentials as one line. " +
      "An entry that the data plane could not read closes what needs it, and is reported here, without the value.",
  }),
  "unusable-entry": message<{ what: string; key: string; problem: string }>({
    severity: "warning",
    text: ({ what, key, problem }) => `"${key}" of ${what} ${problem}`,
    hint: () => "write the key itself, or {key or keyHash, metadata, allowedModels} as JSON",
    explanation:
      "Each entry of a Secret with API keys is one key. An entry that can't be read admits nobody; the others are accepted. " +
      "Values are judged where they are those that gateways get: by the controller, and by `gwc check` with its view.",
  }),
  "wrong-reference-kind": message<{
    found: string;
    allowed: string;
    /** What was meant most likely, as a hint. */
    instead?: string;
  }>({
    severity: "error",
    text: ({ found }) => `a reference to a ${found} can't stand here`,
    hint: ({ allowed, instead }) => instead ?? `allowed here: ${allowed}`,
    explanation: "Each reference takes some kinds only.",
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
      "A reference into another namespace needs the consent of that namespace: a ReferenceGrant there (Gateway API).",
  }),
  "missing-section": message<{ what: string; section: string; candidates: readonly string[] }>({
    severity: "error",
    text: ({ what, section }) => `${what} has no "${section}"`,
    hint: ({ candidates }) =>
      candidates.length === 0 ? undefined : `it has ${candidates.join(", ")}`,
    explanation:
      "`sectionName` names a part: a listener, a rule, a port of a Service, a target or provider of a backend.",
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
    text: ({ what, host }) => `${what} stands for "${host}": that is the gateway's own pod`,
    hint: () => "name a server of another pod, or the container of this one by its address",
    explanation:
      "A Service of the type ExternalName with a name or an address of loopback leads each client of it to itself. Through a " +
      "gateway its clients reach what listens in the gateway's own pod: containers next to it, and pages that nobody else is " +
      "to reach (the class of CVE-2021-32783). The gateway's own pages are an error (`own-port`).",
  }),
  "not-a-tcp-port": message<{ what: string; port: number; protocol: string }>({
    severity: "error",
    text: ({ what, port, protocol }) => `port ${port} of ${what} takes ${protocol}`,
    hint: () => "name a port of TCP, or correct the Service's `protocol`",
    explanation:
      "Requests, and what policies ask of servers, are connections of TCP. What a Service takes on a port of UDP or SCTP is " +
      "something else, and nobody would take the connection.",
  }),
  "other-port": message<{ what: string; address: string }>({
    severity: "warning",
    text: ({ what, address }) => `this port has no effect: ${what} is at ${address}`,
    hint: () => "take it out, or correct the port of the backend",
    explanation:
      "A GatewayBackend says its own port, and a reference to one needs none (Gateway API: `port` is for Services). One " +
      "that says another port looks as if that were asked.",
  }),
  "ambiguous-key-server": message<{ what: string }>({
    severity: "error",
    text: ({ what }) => `${what} is no server with one address`,
    hint: () => "refer to a Service or to a GatewayBackend with `static`",
    explanation:
      "A key set is fetched from one server, so the backend has to be a Service or static.",
  }),
  "gateway-address": message<{
    problem: string;
    /** The condition's reason (Gateway API). */
    cause: "UnsupportedAddress" | "AddressNotUsable";
  }>({
    severity: "error",
    text: ({ problem }) => `this address ${problem}`,
    hint: () => "write an IP address, of the type IPAddress",
    explanation:
      "The Service of a Gateway asks the load balancer of the cluster for the addresses of the Gateway: for one by `loadBalancerIP`, " +
      "for several by the annotations of MetalLB, Cilium and kube-vip. Load balancers choose host names themselves.",
  }),
  "not-attached": message<{
    route: string;
    parent: string;
    reason: string;
    /** The condition's reason (Gateway API). */
    cause:
      | "NoMatchingParent"
      | "NotAllowedByListeners"
      | "NoMatchingListenerHostname"
      | "NotAllowed";
  }>({
    severity: "error",
    text: ({ route, parent, reason }) => `${route} does not attach to ${parent}: ${reason}`,
    explanation:
      "A route attaches to a listener when the listener allows its namespace and kind and their host names overlap " +
      "(Gateway API). A route that attaches nowhere is never reached, and nothing that stands on it is enforced.",
  }),
  "backend-without-grpc": message<{ backend: string }>({
    severity: "error",
    text: ({ backend }) => `calls of gRPC can't go to ${backend}`,
    hint: () => "refer to a Service or to a GatewayBackend with `static`",
    explanation:
      "A GRPCRoute passes calls on to servers of gRPC. A backend of MCP targets, models or dynamic destinations speaks " +
      "another protocol; an HTTPRoute leads there.",
  }),
  "pool-without-service": message<{ pool: string; selector: string }>({
    severity: "error",
    text: ({ pool }) => `no headless Service has the selector of ${pool}`,
    hint: ({ selector }) => `add a Service with clusterIP: None and selector: {${selector}}`,
    explanation:
      "Without a controller the endpoints of an InferencePool are looked up by name while the gateway runs, so that they " +
      "follow its pods. The " +
      "name is that of a Service without an address of its own (`clusterIP: None`) in the pool's namespace, which selects " +
      "the same pods.",
  }),
  "wrong-route-kind": message<{ found: string; protocol: string; taken: readonly string[] }>({
    severity: "warning",
    text: ({ found, protocol }) => `a listener of ${protocol} takes no ${found}`,
    hint: ({ taken }) => (taken.length === 0 ? undefined : `it can take ${taken.join(", ")}`),
    explanation:
      "`allowedRoutes.kinds` narrows the kinds that a listener's protocol carries. It adds none: routes of another kind " +
      "do not attach (Gateway API: InvalidRouteKinds).",
  }),
  "wrong-target": message<{ section: string; target: string; allowed: string }>({
    severity: "error",
    text: ({ section, target }) => `"${section}" can't target ${target}`,
    hint: ({ allowed }) => `it may target ${allowed}`,
    explanation:
      "`frontend` acts on a Gateway's connections, `traffic` on requests of Gateways, listeners and routes, `backend` on " +
      "connections to backends. On any other target the section would do nothing.",
  }),
  "not-before-routing": message<{ field: string }>({
    severity: "error",
    text: ({ field }) => `"${field}" can't run before the route is chosen`,
    hint: () => "leave out phase: PreRouting; it may stand on the Gateway all the same",
    explanation:
      "The policy is about the call of a backend, and which backend that is follows from the route. On a Gateway or a " +
      "listener it holds for all of their routes, after one was chosen.",
  }),
  "wrong-phase": message<{ target: string }>({
    severity: "error",
    text: ({ target }) => `phase: PreRouting can't target ${target}`,
    hint: () => "it may target a Gateway or a listener",
    explanation: "PreRouting rules run before the route is known, so they can't depend on it.",
  }),
  "policy-conflict": message<{ field: string; by: string; target: string }>({
    severity: "warning",
    text: ({ field, by, target }) =>
      `"${field}" has no effect on ${target}: ${by} says it too, and wins`,
    hint: () => "say it in one policy for each target",
    explanation:
      "Of two policies that say the same field for the same target the older one wins (creationTimestamp), then the one " +
      "whose namespace and name come first (Gateway API).",
  }),
  "raw-config-overridden": message<{ what: string; by: string }>({
    severity: "warning",
    text: ({ what, by }) => `"${what}" of rawConfig has no effect: ${by} wins`,
    hint: () => "say it in one of them",
    explanation:
      "rawConfig of GatewayParameters is a standalone file below the typed fields: what a field of the parameters, a policy " +
      "or a listener of the Gateway says takes the place of what stands there.",
  }),
  "policy-without-effect": message<{ policy: string; field?: string; actsOn?: string }>({
    severity: "warning",
    text: ({ policy, field }) =>
      `${field === undefined ? policy : `"${field}" of ${policy}`} acts on nothing that is served`,
    hint: ({ actsOn }) => (actsOn === undefined ? undefined : `it acts on ${actsOn}`),
    explanation:
      "Its targets exist, but no request of these Gateways passes them, none of the routes has what it acts on, or more " +
      "specific policies say everything that it says.",
  }),
  "section-says-nothing": message<{ section: string }>({
    severity: "warning",
    text: ({ section }) => `"${section}" says nothing`,
    hint: () => "write what is to hold, or leave it out",
    explanation:
      "A section without fields changes nothing: defaults hold with it as without it. Most are refused when they are empty; " +
      "of these the API has no such rule.",
  }),
  "selector-without-match": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `no ${what} has these labels`,
    explanation: "A selector that selects nothing has no effect.",
  }),
  "bundle-too-large": message<{ size: number }>({
    severity: "error",
    text: ({ size }) =>
      `the compressed bundle has ${Math.ceil(size / 1024)} KiB, and a ConfigMap takes 1024`,
    hint: () => "put it into an image (the Dockerfile is generated), and name that with --image",
    explanation:
      "Without an image a ConfigMap carries the bundle, compressed. Kubernetes takes no ConfigMap of more than 1 MiB.",
  }),
  "idle-selector": message<Record<never, never>>({
    severity: "warning",
    text: () => "the selector counts only beside from: Selector",
    hint: () => "add from: Selector, or remove the selector",
    explanation:
      "Whose routes or listeners may attach is said by `from`; Gateway API reads the selector only where `from` is Selector.",
  }),
  "target-without-port": message<{ service: string; ports: number }>({
    severity: "error",
    text: ({ service, ports }) =>
      ports === 0
        ? `${service} is selected as an MCP server, but has no port`
        : `${service} is selected as an MCP server, but none of its ${ports} ports says that it speaks MCP`,
    hint: ({ ports }) =>
      ports === 0 ? undefined : "set appProtocol: gwc.dev/mcp (or gwc.dev/mcp-sse) on the port",
    explanation:
      "A selected Service is reached at its only port, or at those whose `appProtocol` ends in `/mcp` (streamable HTTP) or " +
      "`/mcp-sse`. Leaving it out would hide its tools without a word.",
  }),
  "targets-without-match": message<{ target: string }>({
    severity: "error",
    text: ({ target }) => `no Service matches the selector of the target "${target}"`,
    explanation:
      "The MCP servers of a selector target are the Services that match when the gateway is compiled. Without one the " +
      "backend has nothing to offer.",
  }),
  "grace-too-short": message<{ seconds: number; needed: number }>({
    severity: "error",
    text: ({ seconds, needed }) =>
      `pods would be killed after ${seconds} s, while their streams may last ${needed} s`,
    hint: () => "raise it, or lower shutdown.max",
    explanation:
      "The grace period of a pod has to cover its drain: the time in which load balancers learn that it goes, and in which " +
      "its streams end (`shutdown`).",
  }),
  "unknown-resource-field": message<{
    owner: string;
    key: string;
    suggestion: string | undefined;
  }>({
    severity: "warning",
    text: ({ owner, key }) => `${owner} has no field "${key}" in Kubernetes 1.35`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "An overlay is a part of a resource as Kubernetes has it. A field that its API server does not know is refused there " +
      "when the resource is made; a newer API server may know more.",
  }),
  "unknown-directive": message<{ text: string }>({
    severity: "error",
    text: ({ text }) => `overlays have no directive \`${text}\``,
    hint: () => "directives: $patch: delete, $patch: replace, $patch: merge, $retainKeys",
    explanation:
      "Overlays are merged as Kubernetes' strategic merge patches are. A key that begins with `$` is a directive of the " +
      "merge, and one that is not known would stand in the resource, where the API server refuses it.",
  }),
  "image-without-repository": message<Record<never, never>>({
    severity: "error",
    text: () => "the image has no repository",
    hint: () => "add repository, or build with --image",
    explanation:
      "gwc has no image of its own that runs every gateway: the image is the one that holds the bundle. A registry, tag " +
      "or digest alone names none, and would have no effect.",
  }),
  "secret-elsewhere": message<{ what: string }>({
    severity: "error",
    text: ({ what }) => `${what} is in another namespace than the Gateway, so it can't be mounted`,
    hint: () =>
      "keep it, and what refers to it by name alone, in the Gateway's namespace; a controller may deliver it: `gwc check --cluster` judges so",
    explanation:
      "Secrets and CA certificates reach the gateway as mounted files, and a pod mounts only Secrets and ConfigMaps of its " +
      "own namespace. The controller delivers them to its data planes, of whatever namespace: `gwc check --cluster` gives its " +
      "verdict.",
  }),
  "mesh-without-controller": message<Record<never, never>>({
    severity: "error",
    text: () =>
      "which pods are in a mesh only a controller can say: this gateway would encrypt nothing",
    hint: () =>
      "run it by `gwc controller`, or say how its backends are reached by `tls` of a policy on them",
    explanation:
      "Pods with a sidecar are connected to by mutual TLS, and each is known by its own account. `gwc controller` tells " +
      "the gateway which pods these are as they come and go; a bundle that runs by itself has but the names of Services.",
  }),
};
