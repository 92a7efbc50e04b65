import { didYouMean, message } from "./message.ts";

/** Diagnostics about Kubernetes manifests: kinds, routes, policies and Gateways. */
export const kubernetesMessages = {
  "skipped-kind": message<{ kind: string }>({
    severity: "note",
    text: ({ kind }) => `${kind} is not part of a gateway; skipped`,
    explanation:
      "Folders of manifests often contain other kinds. gwc reads the kinds of Gateway API, its own kinds, and the core " +
      "kinds that they refer to.",
  }),
  "unknown-kind": message<{ kind: string; group: string; suggestion: string | undefined }>({
    severity: "error",
    text: ({ kind, group }) => `${group} has no kind "${kind}"`,
    hint: ({ suggestion }) => didYouMean(suggestion),
    explanation:
      "An unknown kind in an API group of gateways is a misspelling: if gwc skipped it, its configuration would be " +
      "lost.",
  }),
  "wrong-version": message<{ kind: string; found: string; known: string }>({
    severity: "error",
    text: ({ kind, found }) => `${kind} has no version "${found}"`,
    hint: ({ known }) => `supported versions: ${known}`,
    explanation: "The meaning of a field depends on the version of its API group.",
  }),
  "mixed-forms": message<Record<never, never>>({
    severity: "error",
    text: () => "this is a standalone configuration, but other documents are Kubernetes manifests",
    hint: () => "compile them separately: a gateway is either a standalone file or manifests",
    explanation:
      "A document with `apiVersion` and `kind` is a Kubernetes manifest, any other one is a standalone file. One build " +
      "reads one of the two forms.",
  }),
  "duplicate-resource": message<{ resource: string }>({
    severity: "error",
    text: ({ resource }) => `${resource} is declared twice`,
    explanation: "The order of manifests has no meaning, so neither has precedence.",
  }),
  "nested-too-deep": message<{ levels: number }>({
    severity: "error",
    text: ({ levels }) => `the resource is nested more than ${levels} levels deep`,
    explanation:
      "Nobody writes that many levels by hand, and programs that read thousands of levels run out of memory. The " +
      "resource is not read.",
  }),
  "resource-too-large": message<{ size: number }>({
    severity: "error",
    text: ({ size }) => `the resource has more than ${size.toLocaleString("en")} characters`,
    hint: () => "split it: several routes and policies may have the same hosts and targets",
    explanation:
      "Tenants of a Gateway share its compiler, which cannot be interrupted. The resource is not read. A GatewayPolicy closes " +
      "its targets. Secrets, ConfigMaps and EndpointSlices have no such limit.",
  }),
  "no-gateway": message<{ found: string | undefined }>({
    severity: "error",
    text: ({ found }) =>
      found === undefined
        ? "these manifests contain no Gateway for gwc"
        : `there is no Gateway "${found}" in these manifests`,
    explanation:
      "A bundle is one Gateway with its listeners and everything that attaches to them. Routes and policies alone are " +
      "not a gateway, and Gateways of other controllers are ignored.",
  }),
  "several-gateways": message<{ names: readonly string[] }>({
    severity: "error",
    text: ({ names }) => `there are ${names.length} Gateways in these manifests`,
    hint: ({ names }) => `select one: --gateway ${names[0]}`,
    explanation: "One process serves one Gateway. `gwc build` creates a bundle for each.",
  }),
  "foreign-gateway": message<{ gateway: string; controller: string }>({
    severity: "note",
    text: ({ gateway, controller }) => `${gateway} belongs to another controller, "${controller}"`,
    hint: () => 'to compile it, use a GatewayClass with the controllerName "gwc.dev/gateway"',
    explanation:
      "A GatewayClass names the controller of its Gateways. gwc compiles those of its own classes (controllerName " +
      "`gwc.dev/gateway` or `agentgateway.dev/agentgateway`) and those whose class is not in the input.",
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
      "A route attaches to a listener if the listener allows its namespace and kind, and if their hostnames overlap " +
      "(Gateway API). A route that attaches nowhere is never reached, and its policies are not enforced.",
  }),
  "backend-without-grpc": message<{ backend: string }>({
    severity: "error",
    text: ({ backend }) => `gRPC calls cannot be sent to ${backend}`,
    hint: () => "refer to a Service or to a GatewayBackend with `static`",
    explanation:
      "A GRPCRoute forwards calls to gRPC servers. MCP, AI and dynamic backends use other protocols: use an HTTPRoute " +
      "for them.",
  }),
  "pool-without-service": message<{ pool: string; selector: string }>({
    severity: "error",
    text: ({ pool }) => `no headless Service has the selector of ${pool}`,
    hint: ({ selector }) => `add a Service with clusterIP: None and selector: {${selector}}`,
    explanation:
      "Without a controller, the gateway resolves the endpoints of an InferencePool by DNS while it runs. This " +
      "requires a Service without a cluster IP (`clusterIP: None`) in the namespace of the pool that selects the same " +
      "pods.",
  }),
  "wrong-route-kind": message<{ found: string; protocol: string; taken: readonly string[] }>({
    severity: "warning",
    text: ({ found, protocol }) => `a listener with protocol: ${protocol} does not accept ${found}`,
    hint: ({ taken }) => (taken.length === 0 ? undefined : `it accepts ${taken.join(", ")}`),
    explanation:
      "`allowedRoutes.kinds` restricts the kinds that the protocol of a listener supports. It cannot add kinds: routes " +
      "of other kinds do not attach (Gateway API: InvalidRouteKinds).",
  }),
  "wrong-target": message<{ section: string; target: string; allowed: string }>({
    severity: "error",
    text: ({ section, target }) => `"${section}" cannot target ${target}`,
    hint: ({ allowed }) => `it may target ${allowed}`,
    explanation:
      "`frontend` applies to the connections of a Gateway, `traffic` to requests of Gateways, listeners and routes, " +
      "and `backend` to connections to backends. It would have no effect on any other target.",
  }),
  "not-before-routing": message<{ field: string }>({
    severity: "error",
    text: ({ field }) => `"${field}" cannot run before the route is chosen`,
    hint: () => "remove phase: PreRouting; it can still target the Gateway",
    explanation:
      "The policy applies to the call of a backend, which depends on the route. On a Gateway or a listener it applies " +
      "to all of their routes, after the route is chosen.",
  }),
  "wrong-phase": message<{ target: string }>({
    severity: "error",
    text: ({ target }) => `phase: PreRouting cannot target ${target}`,
    hint: () => "target a Gateway or a listener",
    explanation: "PreRouting rules run before the route is known, so they cannot depend on it.",
  }),
  "policy-conflict": message<{ field: string; by: string; target: string }>({
    severity: "warning",
    text: ({ field, by, target }) =>
      `"${field}" has no effect on ${target}: ${by} also sets it and has precedence`,
    hint: () => "set it in one policy for each target",
    explanation:
      "If two policies set the same field for the same target, the older one has precedence (creationTimestamp), then " +
      "the first by namespace and name (Gateway API).",
  }),
  "raw-config-overridden": message<{ what: string; by: string }>({
    severity: "warning",
    text: ({ what, by }) => `"${what}" of rawConfig has no effect: ${by} has precedence`,
    hint: () => "set it in one place",
    explanation:
      "rawConfig of GatewayParameters is a standalone file with the lowest precedence: fields of the parameters, " +
      "policies and listeners of the Gateway override it.",
  }),
  "policy-without-effect": message<{ policy: string; field?: string; actsOn?: string }>({
    severity: "warning",
    text: ({ policy, field }) =>
      `${field === undefined ? policy : `"${field}" of ${policy}`} has no effect on anything that is served`,
    hint: ({ actsOn }) => (actsOn === undefined ? undefined : `it applies to ${actsOn}`),
    explanation:
      "The targets of the policy exist, but no request of these Gateways passes through them, none of their routes has " +
      "what the policy applies to, or more specific policies override all of its fields.",
  }),
  "section-says-nothing": message<{ section: string }>({
    severity: "warning",
    text: ({ section }) => `"${section}" is empty`,
    hint: () => "add fields, or remove it",
    explanation:
      "An empty section changes nothing: the defaults apply with and without it. The API refuses most empty sections, " +
      "but not this one.",
  }),
  "selector-without-match": message<{ what: string }>({
    severity: "warning",
    text: ({ what }) => `no ${what} has these labels`,
    explanation: "A selector without matches has no effect.",
  }),
  "bundle-too-large": message<{ size: number }>({
    severity: "error",
    text: ({ size }) =>
      `the compressed bundle has ${Math.ceil(size / 1024)} KiB, but a ConfigMap holds at most 1024`,
    hint: () => "build an image (the Dockerfile is generated), and pass it with --image",
    explanation:
      "Without an image, the compressed bundle is stored in a ConfigMap, and Kubernetes limits ConfigMaps to 1 MiB.",
  }),
  "idle-selector": message<Record<never, never>>({
    severity: "warning",
    text: () => "the selector is only used with from: Selector",
    hint: () => "add from: Selector, or remove the selector",
    explanation:
      "`from` determines which namespaces may attach routes or listeners. Gateway API uses the selector only if `from` " +
      "is Selector.",
  }),
  "target-without-port": message<{ service: string; ports: number }>({
    severity: "error",
    text: ({ service, ports }) =>
      ports === 0
        ? `${service} is selected as an MCP server, but has no port`
        : `${service} is selected as an MCP server, but none of its ${ports} ports has an appProtocol of MCP`,
    hint: ({ ports }) =>
      ports === 0 ? undefined : "set appProtocol: gwc.dev/mcp (or gwc.dev/mcp-sse) on the port",
    explanation:
      "gwc uses the only port of a selected Service, or those whose `appProtocol` ends in `/mcp` (streamable HTTP) or " +
      "`/mcp-sse`.",
  }),
  "targets-without-match": message<{ target: string }>({
    severity: "error",
    text: ({ target }) => `no Service matches the selector of the target "${target}"`,
    explanation:
      "A selector target uses the Services that match when the gateway is compiled. Without a match, the backend " +
      "offers nothing.",
  }),
  "grace-too-short": message<{ seconds: number; needed: number }>({
    severity: "error",
    text: ({ seconds, needed }) =>
      `pods would be killed after ${seconds} s, but draining them can take ${needed} s`,
    hint: () => "raise it, or lower shutdown.max",
    explanation:
      "The grace period of a pod must cover its shutdown: the time until load balancers stop sending connections, and " +
      "the time until its streams end (`shutdown`).",
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
      "An overlay is part of a Kubernetes resource. The API server refuses unknown fields when the resource is " +
      "created; a newer API server may support more fields.",
  }),
  "unknown-directive": message<{ text: string }>({
    severity: "error",
    text: ({ text }) => `overlays have no directive \`${text}\``,
    hint: () => "directives: $patch: delete, $patch: replace, $patch: merge, $retainKeys",
    explanation:
      "Overlays are merged like strategic merge patches of Kubernetes. A key that begins with `$` is a merge " +
      "directive. An unknown one would become part of the resource, which the API server refuses.",
  }),
  "image-without-repository": message<Record<never, never>>({
    severity: "error",
    text: () => "the image has no repository",
    hint: () => "add repository, or build with --image",
    explanation:
      "gwc has no generic image: the image contains the bundle. A registry, tag or digest without a repository does " +
      "not identify an image and would have no effect.",
  }),
  "secret-elsewhere": message<{ what: string; copy: string; namespace: string }>({
    severity: "warning",
    text: ({ what, copy }) =>
      `${what} is in another namespace than the Gateway: pods mount its copy "${copy}"`,
    hint: ({ copy, namespace }) =>
      `copy it to "${namespace}/${copy}", or use \`gwc controller\`, which delivers it: see \`gwc check --cluster\``,
    explanation:
      "Secrets and CA certificates are mounted as files, and a pod can only mount Secrets and ConfigMaps of its own " +
      "namespace. A bundle expects copies named NAMESPACE.NAME there, and its pods do not start without them. The " +
      "controller delivers objects to its data planes from any namespace: `gwc check --cluster` checks for that case.",
  }),
  "mesh-without-controller": message<Record<never, never>>({
    severity: "error",
    text: () =>
      "only a controller knows which pods are in a mesh: this gateway would not encrypt connections",
    hint: () => "run it with `gwc controller`, or configure `tls` in a policy on its backends",
    explanation:
      "Pods with a sidecar require mutual TLS, and each has the identity of its own service account. `gwc controller` " +
      "keeps the gateway informed about these pods; a standalone bundle only knows the names of Services.",
  }),
};
