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

const texts = map(nullable(anyText()));
const overlay = object({
  metadata: object({ labels: texts, annotations: texts }),
  spec: part("A part of the resource's spec, merged into it."),
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
          { name: text("The variable."), value: anyText(), valueFrom: json },
          { required: ["name"] },
        ),
      ),
      resources: part("Compute resources of the container."),
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
