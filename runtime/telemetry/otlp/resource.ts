import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { EnvVariables } from "../../cel/variables.ts";
import type { FieldWriter } from "../field-writer.ts";
import { AttributeRuns, OtlpAttributes } from "./attributes.ts";
import { ItemBuffer } from "./item-buffer.ts";
import type { OtlpFormat } from "./otlp-format.ts";

/** Adds what the configuration says of the gateway, once, when it starts. */
export type ResourceAttributes = (resource: FieldWriter, env: EnvVariables) => void;

/** Whose resource it is. */
interface ResourceContext {
  /** The gateway's name. */
  readonly name: string;
  readonly gateway: { readonly env: EnvVariables };
}

/** What the gateway says of itself to a collector: attributes. */
export function resourceText(
  format: OtlpFormat,
  { name, gateway: { env } }: ResourceContext,
  added: ResourceAttributes | undefined,
): string {
  const resource = new OtlpAttributes(new AttributeRuns(format.attributes("resource")));
  resource.text("service.name", name);
  resource.text("service.instance.id", env.podName || randomUUID());
  resource.text("host.name", hostname());
  resource.text("k8s.pod.name", env.podName || undefined);
  resource.text("k8s.namespace.name", env.namespace || undefined);
  resource.text("k8s.node.name", process.env.NODE_NAME);
  resource.text("k8s.pod.ip", process.env.INSTANCE_IP);
  added?.(resource, env);
  const bytes = new ItemBuffer();
  resource.writeTo(bytes);
  return bytes.bytes.toString("latin1");
}
