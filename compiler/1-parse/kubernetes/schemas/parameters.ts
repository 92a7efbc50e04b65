import { resource } from "../../../schema/kubernetes-fields.ts";
import {
  anyText,
  choice,
  integer,
  list,
  map,
  nullable,
  object,
  openObject,
  text,
} from "../../../schema/schema.ts";

const texts = map(nullable(anyText()));
const overlay = object({
  metadata: object({ labels: texts, annotations: texts }),
  spec: { type: "object", description: "A part of the resource's spec, merged into it." },
});
const seconds = (description: string) => integer(description, 0, 31_536_000);

const mesh = object({
  caAddress: text("The mesh's certificate authority."),
  trustDomain: text("The mesh's trust domain.", { default: "cluster.local" }),
});

/** GatewayParameters: how the data plane is provisioned. */
export const parametersSchema = resource(
  object(
    {
      logging: object({
        level: text("What is logged: `info`, or `info,module=debug`.", { default: "info" }),
        format: choice("How lines are written.", ["json", "text"], { default: "text" }),
      }),
      rawConfig: {
        type: "object",
        description: "A standalone file; of it only `config` can stand here.",
      },
      image: object({
        registry: anyText(),
        repository: anyText(),
        tag: anyText(),
        digest: anyText(),
        pullPolicy: anyText(),
      }),
      env: list(
        openObject(
          { name: text("The variable."), value: anyText(), valueFrom: {} },
          { required: ["name"] },
        ),
      ),
      resources: { type: "object", description: "Compute resources of the container." },
      shutdown: object(
        {
          min: seconds("Seconds that listeners stay open."),
          max: seconds("Seconds that streams may end by themselves."),
        },
        {
          required: ["min", "max"],
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
      deployment: overlay,
      service: overlay,
      serviceAccount: overlay,
      podDisruptionBudget: overlay,
      horizontalPodAutoscaler: overlay,
    },
    { atMostOneOf: ["mesh", "istio"] },
  ),
);
