import type { Json } from "../model/json.ts";
import {
  anyText,
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
    caAddress: text("The mesh's certificate authority."),
    trustDomain: text("The mesh's trust domain.", { default: "cluster.local" }),
  },
  { description: "The mesh that the gateway is a part of." },
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
        description: "A standalone file; of it only `config` can stand here.",
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
      resources: part("Compute resources of the container."),
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
