/** A schema of the API server's OpenAPI document, as far as it is read. */
interface OpenApiSchema {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-patch-strategy"?: string;
}

/** Schemas by their names in the document. */
export type OpenApiSchemas = Readonly<Record<string, OpenApiSchema>>;

/** The fields that overlays may change in the objects of a gateway. */
const ROOTS: readonly string[] = [
  ...["io.k8s.api.apps.v1.DeploymentSpec", "io.k8s.api.core.v1.ServiceSpec"],
  ...["io.k8s.api.apps.v1.DaemonSetSpec", "io.k8s.api.policy.v1.PodDisruptionBudgetSpec"],
  "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec",
];
const LINE = 118;

/** The types of Kubernetes below those roots, in the words of `overlay-types.ts`. */
export function overlaidFields(schemas: OpenApiSchemas): string {
  const found = new Map<string, readonly string[]>();
  const waiting = [...ROOTS];
  const typeOf = (schema: OpenApiSchema): string => {
    const reference =
      schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
    if (reference !== undefined) {
      const name = reference.slice(reference.lastIndexOf("/") + 1);
      const target = schemas[name] ?? {};
      if (lastPart(name) === "Quantity") return "quantity";
      if (target.properties === undefined) return scalarOf(target);
      waiting.push(name);
      return lastPart(name);
    }
    if (schema.items !== undefined) return `[${typeOf(schema.items)}]`;
    if (schema.type !== "object") return scalarOf(schema);
    return `{${schema.additionalProperties === undefined ? "any" : typeOf(schema.additionalProperties)}}`;
  };
  for (const name of waiting) {
    const type = lastPart(name);
    if (found.has(type)) continue;
    found.set(
      type,
      Object.entries(schemas[name]?.properties ?? {}).map(([field, schema]) => {
        const key = schema["x-kubernetes-patch-merge-key"];
        return `${field}:${typeOf(schema)}${key === undefined ? "" : `/${key}`}`;
      }),
    );
  }
  const sorted = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([type, fields]) => wrapped([type, ...fields])).join("\n");
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function scalarOf({ type, format }: OpenApiSchema): string {
  if (format === "int-or-string") return format;
  return type === "object" || type === undefined ? "any" : type;
}

/** Words in lines of some length; those after the first are indented. */
function wrapped(words: readonly string[]): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && line.length + word.length >= LINE) {
      lines.push(line);
      line = ` ${word}`;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
