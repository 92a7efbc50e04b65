import { kinds } from "../../../compiler/1-parse/kubernetes/kinds.ts";
import { manifestReader, type PartForm } from "../../../compiler/1-parse/kubernetes/manifests.ts";
import { Diagnostics } from "../../../compiler/diagnostics/diagnostic.ts";
import { memoryHost } from "../../../compiler/host.ts";
import type { Program } from "../../../compiler/ir/program.ts";
import type { ConfigValue } from "../../../compiler/schema/config-values.ts";
import type { Schema } from "../../../compiler/schema/schema.ts";
import { kubernetesResources } from "../../../templates/kubernetes/resources.ts";
import { resolved, textOf } from "./file-compiler.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { valueWithAll } from "./schema-walk.ts";

/** The specifications of kinds as one object: `HTTPRoute`, `GatewayPolicy`. */
export function specificationsOf(names: readonly string[]): Schema {
  const properties = Object.fromEntries(
    kinds
      .filter(({ kind }) => names.includes(kind))
      .map(({ kind, schema }) => [kind, schema().properties?.spec ?? {}]),
  );
  return { type: "object", properties };
}

/**
 * Compiles resources that are given by kind, together with others, in this process and without a bundle. With `schema`,
 * resources of it have one validator; otherwise each has its own, as in a check.
 */
export function kubernetesCompiler(
  schema: Schema | undefined,
  others: readonly ConfigValue[],
): (config: unknown) => Outcome {
  const readAll = manifestReader([
    ...(schema === undefined ? [] : resourcesOf(valueWithAll(schema))),
    ...others,
  ]);
  const inOthers = new Diagnostics();
  const world = others.flatMap((value, document) =>
    readAll({ value, origin: { file: "world.yaml", document, path: [] } }, inOthers),
  );
  if (inOthers.list.length > 0) throw new Error(JSON.stringify(inOthers.list));
  return (config) => {
    const diagnostics = new Diagnostics();
    const resources = resourcesOf(structuredClone(config));
    const read = schema === undefined ? manifestReader(resources) : readAll;
    const manifestsIn = (found: Diagnostics, form?: PartForm) =>
      resources.flatMap((value, document) =>
        read({ value, origin: { file: "gateway.yaml", document, path: [] } }, found, form),
      );
    const valid = manifestsIn(diagnostics);
    const isRepaired = valid.some(({ isPartial }) => isPartial);
    const input = { files: [], inputs: [], folder: "." };
    const inputOf = (own: typeof valid) => {
      const manifests = [...own, ...world];
      const repaired = () => manifests;
      return { kind: "kubernetes", manifests, repaired, isMarked: isRepaired, ...input } as const;
    };
    // As a check does.
    const find = () => {
      const found = resolved(inputOf(valid), memoryHost(FILES));
      if (!isRepaired) return found;
      const repaired = inputOf(manifestsIn(new Diagnostics(), "repaired"));
      const more = resolved(repaired, memoryHost(FILES)).diagnostics;
      return { ...found, diagnostics: [...found.diagnostics, ...more] };
    };
    return outcomeOf(diagnostics.list, find, writtenOf);
  };
}

function resourcesOf(config: unknown): readonly ConfigValue[] {
  const byKind = Object.entries(config as Readonly<Record<string, ConfigValue>>);
  return byKind.map(([kind, spec]) => resourceOf(kind, spec));
}

/** The resource of a kind is called as its kind, in small letters. */
function resourceOf(kind: string, spec: ConfigValue): ConfigValue {
  const row = kinds.find((each) => each.kind === kind);
  const [group = ""] = row?.groups ?? [];
  const [version = ""] = row?.versions ?? [];
  const metadata = { name: kind.toLowerCase(), labels: { a: "aa" } };
  return { apiVersion: `${group}/${version}`, kind, metadata, spec };
}

/** Everything that a build writes but the bundle. */
function writtenOf(program: Program): string {
  const { deployment } = program;
  const bundle = { image: undefined, bundle: "", digest: "" };
  const resources =
    deployment === undefined ? [] : kubernetesResources(program, deployment, bundle);
  return `${JSON.stringify(resources)}\n${textOf(program)}`;
}

/** Policies that operators have published. */
const FILES = { "policies/a.ts": published("a"), "policies/b.ts": published("b") };

function published(name: string): string {
  return `import { definePolicy } from "gwc/policy";
export default definePolicy({
  options: { aa: { type: "string" }, key: { type: "string", secret: true } },
  async request(request, { aa, key }) {
    request.headers.set("${name}", \`\${aa} \${key}\`);
  },
});
`;
}
