import type { Json } from "../model/json.ts";
import { CATALOG_ENTRY } from "../model/model-prices.ts";
import { ACME_INSTEAD } from "../schema/refused-features.ts";
import {
  anyText,
  boolean,
  choice,
  integer,
  json,
  list,
  map,
  nullable,
  object,
  openObject,
  type Schema,
  shortText,
  text,
  unsupported,
} from "../schema/schema.ts";
import { localObject, resource } from "./field-types.ts";
import { keysApiParameters } from "./keys-api.ts";
import { redisFields } from "./redis-fields.ts";
import { usageSchema } from "./usage.ts";

/** Schema of a part of a Kubernetes resource. */
function part(description: string): Schema<Json> {
  return { type: "object", description };
}

const texts = (description: string) => map(nullable(anyText()), { description });

/** Schema of an overlay, which is merged into one of the resources that run a gateway. */
function overlay(description: string) {
  return object(
    {
      metadata: object(
        {
          labels: texts("Labels to add."),
          annotations: texts("Annotations to add."),
        },
        { description: "Metadata to add." },
      ),
      spec: part("Part of a spec that is merged into that of the resource."),
    },
    { description },
  );
}

const seconds = (description: string) => integer(description, 0, 31_536_000);

const mesh = object(
  {
    enabled: boolean("Whether it belongs to the mesh of its class."),
    caAddress: text(
      "Certificate authority of the mesh: its address, with Istio's protocol over TLS; or `file://` and a folder of " +
        "the pod in which another process stores certificates.",
      {
        default: "https://istiod.istio-system.svc:15012",
        pattern: "^((https://)?[^\\s/?#@:]+:[0-9]{1,5}|https://[^\\s/?#@:]+|file:///[^\\s?#]+)$",
        form: "an https:// URL, a host with its port, or the file:// URL of a folder",
        examples: ["https://istiod.istio-system.svc:15012", "file:///var/run/mesh"],
      },
    ),
    trustDomain: text("The mesh's trust domain.", {
      default: "cluster.local",
      maxLength: 255,
      pattern: "^[a-z0-9._-]+$",
      form: 'a trust domain: small letters, digits, ".", "-" and "_"',
    }),
    clusterId: text("Name of the gateway's cluster at the certificate authority.", {
      default: "Kubernetes",
    }),
    network: unsupported("mesh networks that are connected by gateways"),
    additionalTrustDomains: unsupported("mesh tunnels to the gateway (HBONE)"),
  },
  {
    description:
      "Mesh that the gateway belongs to: connections to pods with a sidecar use mutual TLS. It requires " +
      "`gwc controller`.",
  },
);

const spiffe = object(
  {
    enabled: boolean("Whether the gateway uses the Workload API of its class."),
    source: object(
      {
        csi: object(
          { driver: text("Name of the driver.", { default: "csi.spiffe.io", maxLength: 63 }) },
          { description: "A CSI driver that mounts the socket, the default." },
        ),
        hostPath: object(
          { path: text("The folder on the node.", { minLength: 1 }) },
          {
            required: ["path"],
            description: "A folder of the node. Pods can read everything in it.",
          },
        ),
        mountPath: text("Folder of the socket in the container.", {
          default: "/spiffe-workload-api",
          pattern: "^/[^?#\\s]+$",
          form: "an absolute path",
        }),
        socketName: text("Name of the socket in that folder.", {
          default: "spire-agent.sock",
          pattern: "^[^/?#\\s]+$",
          form: "the name of a file",
        }),
      },
      { atMostOneOf: ["csi", "hostPath"], description: "How pods get the socket." },
    ),
  },
  {
    description:
      "SPIFFE Workload API, from which the gateway gets its own identity for listeners and backends.",
  },
);

/** GatewayParameters: provisioning of the data plane. */
export const parametersSchema = resource(
  object(
    {
      logging: object(
        {
          level: text("Log level: `info`, or `info,module=debug`.", { default: "info" }),
          format: choice("Format of log lines.", ["json", "text"], { default: "text" }),
        },
        { description: "The log of the gateway." },
      ),
      rawConfig: {
        type: "object",
        description:
          "A standalone file that the typed fields override: ports with their own routes and backends (`binds`, `backends`, `llm`, `mcp`), `config`, `frontendPolicies`; and `pathHandling` of the Gateway's `listeners` by name.",
      },
      image: object(
        {
          registry: anyText({ description: "The registry's host: `ghcr.io`." }),
          repository: anyText({ description: "Repository of the image." }),
          tag: anyText({ description: "Its tag." }),
          digest: anyText({
            description: "Digest of the image, which has precedence over the tag: `sha256:...`.",
          }),
          pullPolicy: anyText({
            description: "Pull policy: Always, IfNotPresent or Never.",
          }),
        },
        { description: "Image of the gateway, instead of a bundle in a ConfigMap." },
      ),
      env: list(
        openObject(
          {
            name: text("The variable."),
            value: anyText({ description: "Its value." }),
            valueFrom: {
              ...json,
              description: "Source of the value: a key of a Secret or a ConfigMap.",
            },
          },
          { required: ["name"] },
        ),
        { description: "Environment variables of the gateway." },
      ),
      resources: part(
        "Compute resources of the container; a request of 100m of CPU and 128Mi of memory by default.",
      ),
      modelCatalog: object(
        {
          sources: list(
            object(
              {
                configMap: object(
                  {
                    name: shortText("Name of a ConfigMap in the Gateway's namespace."),
                    key: shortText("Entry of the ConfigMap; its name ends with `.json`.", {
                      default: CATALOG_ENTRY,
                      pattern: "^[-._a-zA-Z0-9]+\\.json$",
                      form: "the name of a JSON file",
                    }),
                  },
                  { required: ["name"], description: "A ConfigMap with a catalog in JSON." },
                ),
              },
              { required: ["configMap"] },
            ),
            {
              minItems: 1,
              maxItems: 16,
              description: "Catalogs; later ones replace models of earlier ones.",
            },
          ),
        },
        {
          required: ["sources"],
          description:
            "Prices of models, in the form of `modelCatalog` in a file. They are the source of `llm.cost`, and of the costs in logs and metrics.",
        },
      ),
      shutdown: object(
        {
          min: seconds("Seconds that listeners stay open on shutdown."),
          max: seconds("Maximum seconds that streams may continue on shutdown."),
        },
        {
          required: ["min", "max"],
          description: "Shutdown of the gateway.",
          checks: [
            {
              message: '"min" must be at most "max"',
              field: "min",
              holds: ({ min, max }) =>
                typeof min !== "number" || typeof max !== "number" || min <= max,
              cel: "self.min <= self.max",
            },
          ],
        },
      ),
      workload: object(
        {
          kind: choice("Kind of the workload.", ["Deployment", "DaemonSet"], {
            default: "Deployment",
          }),
        },
        {
          description:
            "Workload that runs the gateway: a Deployment, or a DaemonSet with one pod on each node.",
        },
      ),
      store: object(
        {
          redis: object(
            {
              secretRef: localObject(
                "Secret",
                "A Secret in the Gateway's namespace whose entry `url` is the server: `redis://USER:PASSWORD@HOST:PORT/DATABASE`, or `rediss://` for TLS.",
              ),
              ...redisFields(),
            },
            { required: ["secretRef"], description: "A server with the protocol of Redis." },
          ),
        },
        {
          required: ["redis"],
          description:
            "State that pods share: limits (`rateLimit.local`), and API keys made at run time.",
        },
      ),
      spiffe,
      usage: usageSchema(),
      keysApi: keysApiParameters,
      mesh,
      istio: { ...mesh, aliasOf: "mesh" },
      deployment: overlay("Overlay of its Deployment."),
      daemonSet: overlay("Overlay of its DaemonSet; requires `workload` with the kind DaemonSet."),
      service: overlay("Overlay of its Service."),
      serviceAccount: overlay("Overlay of its ServiceAccount."),
      podDisruptionBudget: overlay("A PodDisruptionBudget for it."),
      horizontalPodAutoscaler: overlay("A HorizontalPodAutoscaler for it."),
    },
    { atMostOneOf: ["mesh", "istio"], misplacedFieldHints: { acme: ACME_INSTEAD } },
  ),
);
