import { execFileSync } from "node:child_process";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { withoutAliases } from "../../compiler/1-parse/kubernetes/aliases.ts";
import { customResourceDefinitions } from "../../compiler/1-parse/kubernetes/crd.ts";
import { kinds } from "../../compiler/1-parse/kubernetes/kinds.ts";
import type { ConfigValue } from "../../compiler/schema/config-values.ts";
import { describeUnless, NOT_LONG } from "../harness/skip.ts";
import { mutated, mutations } from "./bounds/mutations.ts";
import { boundDocument, boundTables } from "./bounds/tables.ts";
import { isGood } from "./shapes.ts";

/** The errors of Kubernetes for the definitions, and for each object. */
interface Verdict {
  readonly definitions: readonly (readonly string[])[];
  readonly objects: readonly (readonly string[])[];
}

/** Asks the API server's own code (apiserver/main.go): shapes, and rules with their cost. */
function judge(
  definitions: readonly object[],
  objects: readonly { readonly kind: string; readonly object: unknown }[],
): Verdict {
  const folder = path.join(import.meta.dirname, "apiserver");
  const input = JSON.stringify({ definitions, objects });
  const text = execFileSync("go", ["run", "."], {
    cwd: folder,
    input,
    env: { ...process.env, GOFLAGS: "-p=1" },
    maxBuffer: 100_000_000,
    encoding: "utf8",
  });
  // The output of the program.
  return JSON.parse(text) as Verdict;
}

const cases = boundTables.flatMap((table) =>
  table.bounds.flatMap(([field, good, bad]) =>
    [good, bad].map((value, index) => ({
      kind: table.kind,
      field: `${field} (${index === 0 ? "good" : "bad"})`,
      object: boundDocument(table, field, value),
    })),
  ),
);

/** Good documents with a mistake, perhaps; huge ones would only take time. */
function mutatedCases(): typeof cases {
  const good = cases.filter(
    ({ field, object }) => field.endsWith("(good)") && JSON.stringify(object).length < 5000,
  );
  const changes = mutations(good.length * 3);
  return changes.map((mutation, index) => {
    const { kind, field, object } = good[index % good.length] ?? {
      kind: "",
      field: "",
      object: {},
    };
    const changed = mutated(object as object, mutation);
    return { kind, field: `${field}: ${JSON.stringify(changed).slice(0, 300)}`, object: changed };
  });
}

/** Returns the documents about which gwc and Kubernetes differ. */
function differences(documents: typeof cases, verdicts: Verdict["objects"]): readonly string[] {
  return documents.flatMap(({ kind, field, object }, index) => {
    const own = isGood(kind, object);
    const theirs = verdicts[index] ?? [];
    if (own.isGood === (theirs.length === 0)) return [];
    return [`${kind} ${field}: gwc ${own.said.join("; ") || "takes it"}, Kubernetes ${theirs}`];
  });
}

/** The definitions have one spelling of each field. */
function canonical(kind: string, object: unknown): unknown {
  // Plain data of a test.
  return withoutAliases(object as ConfigValue, kinds.find((row) => row.kind === kind)?.schema());
}

/** The first build takes minutes, and needs the Go module proxy. */
const missing = NOT_LONG ?? (hasGo() ? undefined : "needs Go");

function hasGo(): boolean {
  try {
    execFileSync("go", ["version"]);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds: thousands of documents, and perhaps the first build. */
const PATIENCE = 900_000;

describeUnless(missing)("the API server's own validation", () => {
  let verdict: Verdict;
  const definitions = customResourceDefinitions();
  let changed: typeof cases = [];

  beforeAll(() => {
    changed = mutatedCases();
    const objects = [...cases, ...changed].map(({ kind, object }) => ({
      kind,
      object: canonical(kind, object),
    }));
    verdict = judge(definitions, objects);
  }, PATIENCE);

  it("takes the definitions: structural, every rule compiles and is cheap enough", () => {
    expect(verdict.definitions).toEqual(definitions.map(() => []));
  });

  it(
    "agrees with gwc about the last good and the first bad value of every field",
    () => {
      expect(differences(cases, verdict.objects)).toEqual([]);
    },
    PATIENCE,
  );

  it(
    "agrees with gwc about documents with anything else in some place",
    () => {
      expect(changed.length).toBeGreaterThan(1000);
      expect(differences(changed, verdict.objects.slice(cases.length))).toEqual([]);
    },
    PATIENCE,
  );

  it("refuses a definition whose rule does not compile", () => {
    const [first] = JSON.parse(JSON.stringify(definitions)) as {
      spec: { versions: [{ schema: { openAPIV3Schema: { properties: { spec: object } } } }] };
    }[];
    const schema = first?.spec.versions[0].schema.openAPIV3Schema.properties.spec;
    Object.assign(schema ?? {}, { "x-kubernetes-validations": [{ rule: "self.nothing" }] });
    expect(judge([first ?? {}], []).definitions[0]?.join()).toContain("undefined field");
  });
});
