import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { EnvVariables } from "../../cel/variables.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { FieldWriter } from "../field-writer.ts";
import { AttributeRuns, OtlpAttributes } from "./attributes.ts";
import { pairsOf } from "./exporter-variables.ts";
import { ItemBuffer } from "./item-buffer.ts";
import type { OtlpFormat } from "./otlp-format.ts";

/** Writes the configured resource attributes, once at startup. */
export type ResourceAttributes = (resource: FieldWriter, env: EnvVariables) => void;

/** The gateway that the resource describes. */
interface ResourceContext {
  /** The gateway's name. */
  readonly name: string;
  readonly gateway: Pick<GatewayContext, "env" | "metrics" | "warn">;
}

/** A random id that distinguishes processes of the gateway without a pod name; it outlives a reload. */
class InstanceId {
  readonly text = randomUUID();
}

/**
 * Returns the encoded attributes that describe the gateway to a collector. Configured ones precede those of
 * OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, which precede what the gateway finds out.
 */
export function resourceText(
  format: OtlpFormat,
  { name, gateway: { env, metrics, warn } }: ResourceContext,
  added: ResourceAttributes | undefined,
): string {
  const resource = new OtlpAttributes(new AttributeRuns(format.attributes("resource")));
  const names = new Set<string>();
  added?.(noting(names, resource), env);
  const own = {
    "service.name": name,
    "service.instance.id": env.podName || metrics.part(InstanceId).text,
    "host.name": hostname(),
    "k8s.pod.name": env.podName || undefined,
    "k8s.namespace.name": env.namespace || undefined,
    "k8s.node.name": process.env.NODE_NAME,
    "k8s.pod.ip": process.env.INSTANCE_IP,
    ...givenAttributes(process.env, warn),
  };
  for (const [each, value] of Object.entries(own)) if (!names.has(each)) resource.text(each, value);
  const bytes = new ItemBuffer();
  resource.writeTo(bytes);
  return bytes.bytes.toString("latin1");
}

/** Returns the attributes in variables of OpenTelemetry. */
function givenAttributes(
  { OTEL_RESOURCE_ATTRIBUTES: list = "", OTEL_SERVICE_NAME: service = "" }: NodeJS.ProcessEnv,
  warn: GatewayContext["warn"],
): Readonly<Record<string, string>> {
  const all = pairsOf(list);
  const pairs = all.filter((pair) => pair !== undefined);
  if (pairs.length < all.length)
    warn("OTEL_RESOURCE_ATTRIBUTES has parts that are not NAME=VALUE, which are ignored");
  return Object.fromEntries(service === "" ? pairs : [...pairs, ["service.name", service]]);
}

/** Forwards fields and records their names, so that configured attributes replace the built-in ones. */
function noting(names: Set<string>, to: FieldWriter): FieldWriter {
  const noted = (name: string): string => {
    names.add(name);
    return name;
  };
  return {
    text: (name, value) => to.text(noted(name), value),
    plain: (name, value) => to.plain(noted(name), value),
    number: (name, value) => to.number(noted(name), value),
    milliseconds: (name, value) => to.milliseconds(noted(name), value),
    json: (name, value) => to.json(noted(name), value),
  };
}
