import type { Json } from "../model/json.ts";
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
  text,
  unsupported,
} from "../schema/schema.ts";
import { resource } from "./field-types.ts";

/** A part of a resource as Kubernetes has it. */
function part(description: string): Schema<Json> {
  return { type: "object", description };
}

const texts = (description: string) => map(nullable(anyText()), { description });

/** What is merged into one of the resources that run a gateway. */
function overlay(description: string) {
  return object(
    {
      metadata: object(
        {
          labels: texts("Labels that are added to its own."),
          annotations: texts("Annotations that are added to its own."),
        },
        { description: "What is added to its metadata." },
      ),
      spec: part("A part of the resource's spec, merged into it."),
    },
    { description },
  );
}

const seconds = (description: string) => integer(description, 0, 31_536_000);

const mesh = object(
  {
    enabled: boolean("Whether it is a part of a mesh, where its class says that it is."),
    caAddress: text(
      "The authority of the mesh: where it speaks Istio's certificate protocol, over TLS; or `file://` and a folder of " +
        "the pod in which somebody else keeps certificates.",
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
    clusterId: text("The cluster of the gateway, as the mesh's authority calls it.", {
      default: "Kubernetes",
    }),
    network: unsupported("networks of a mesh that gateways connect"),
    additionalTrustDomains: unsupported("tunnels of a mesh into the gateway (HBONE)"),
  },
  {
    description:
      "The mesh that the gateway is a part of: pods with a sidecar are connected to by mutual TLS. It acts where " +
      "`gwc controller` runs the gateway.",
  },
);

/** GatewayParameters: how the data plane is provisioned. */
export const parametersSchema = resource(
  object(
    {
      logging: object(
        {
          level: text("What is logged: `info`, or `info,module=debug`.", { default: "info" }),
          format: choice("How lines are written.", ["json", "text"], { default: "text" }),
        },
        { description: "The log of the gateway." },
      ),
      rawConfig: {
        type: "object",
        description:
          "A standalone file below the typed fields: ports with routes and backends of their own (`binds`, `backends`, `llm`, `mcp`), `config`, `frontendPolicies`; and `pathHandling` of the Gateway's `listeners` by name.",
      },
      image: object(
        {
          registry: anyText({ description: "The registry's host: `ghcr.io`." }),
          repository: anyText({ description: "The image in the registry." }),
          tag: anyText({ description: "Its tag." }),
          digest: anyText({ description: "Its digest, which stands above the tag: `sha256:...`." }),
          pullPolicy: anyText({
            description: "When it is fetched: Always, IfNotPresent or Never.",
          }),
        },
        { description: "The image that runs the gateway, instead of a bundle in a ConfigMap." },
      ),
      env: list(
        openObject(
          {
            name: text("The variable."),
            value: anyText({ description: "Its value." }),
            valueFrom: {
              ...json,
              description: "Where its value comes from: a key of a Secret or a ConfigMap.",
            },
          },
          { required: ["name"] },
        ),
        { description: "Variables of the gateway's process." },
      ),
      resources: part(
        "Compute resources of the container; a request of 100m of CPU and 128Mi of memory by default.",
      ),
      shutdown: object(
        {
          min: seconds("Seconds that listeners stay open."),
          max: seconds("Seconds that streams may end by themselves."),
        },
        {
          required: ["min", "max"],
          description: "How the gateway ends.",
          checks: [
            {
              message: '"min" is at most "max"',
              field: "min",
              holds: ({ min, max }) =>
                typeof min !== "number" || typeof max !== "number" || min <= max,
              cel: "self.min <= self.max",
            },
          ],
        },
      ),
      mesh,
      istio: { ...mesh, aliasOf: "mesh" },
      deployment: overlay("What is merged into its Deployment."),
      service: overlay("What is merged into its Service."),
      serviceAccount: overlay("What is merged into its ServiceAccount."),
      podDisruptionBudget: overlay("A PodDisruptionBudget for it."),
      horizontalPodAutoscaler: overlay("A HorizontalPodAutoscaler for it."),
    },
    { atMostOneOf: ["mesh", "istio"] },
  ),
);
