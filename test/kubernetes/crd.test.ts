import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, parseDocument, visit } from "yaml";
import { customResourceDefinitions, kindSchema } from "../../compiler/1-parse/kubernetes/crd.ts";
import { definitionsText } from "../../compiler/commands/schema.ts";
import { program, runTool } from "../harness/tool.ts";

/** Every schema below one, with its path. */
function* parts(schema: object, path = ""): Generator<readonly [string, Record<string, unknown>]> {
  const own = schema as Record<string, unknown>;
  yield [path, own];
  for (const [name, each] of Object.entries((own.properties ?? {}) as object))
    yield* parts(each, `${path}.${name}`);
  if (typeof own.items === "object" && own.items !== null) yield* parts(own.items, `${path}[]`);
  if (typeof own.additionalProperties === "object" && own.additionalProperties !== null)
    yield* parts(own.additionalProperties, `${path}{}`);
}

/** The schema of a field, and those of the values in it if it is a list or a map. */
function* values(
  field: object = {},
  path = "",
): Generator<readonly [string, Record<string, unknown>]> {
  const own = field as Record<string, unknown>;
  yield [path, own];
  const { items, additionalProperties } = own;
  if (typeof items === "object" && items !== null) yield* values(items, `${path}[]`);
  if (typeof additionalProperties === "object" && additionalProperties !== null)
    yield* values(additionalProperties, `${path}{}`);
}

const schemas = customResourceDefinitions().map((each) => {
  const { spec } = each as {
    spec: {
      names: { kind: string };
      versions: [
        { schema: { openAPIV3Schema: object }; additionalPrinterColumns: { name: string }[] },
      ];
    };
  };
  const [{ schema, additionalPrinterColumns: columns }] = spec.versions;
  return { kind: spec.names.kind, schema: schema.openAPIV3Schema, columns };
});

it.each(schemas)("the definition of $kind is structural", ({ schema }) => {
  for (const [path, part] of parts(schema)) {
    const isTyped =
      "type" in part ||
      part["x-kubernetes-int-or-string"] === true ||
      part["x-kubernetes-preserve-unknown-fields"] === true;
    expect(isTyped, `${path} has a type`).toBe(true);
    expect(part.additionalProperties, `${path} is not closed`).not.toBe(false);
    for (const word of ["oneOf", "anyOf", "allOf", "not", "$ref"])
      expect(part).not.toHaveProperty(word);
  }
});

it.each(schemas)(
  "rules of the definition of $kind name fields that have a type alone",
  ({ schema }) => {
    for (const [path, part] of parts(schema)) {
      const validations = (part["x-kubernetes-validations"] ?? []) as { rule: string }[];
      const named = validations.flatMap(({ rule }) => [...rule.matchAll(/has\(self\.(\w+)\)/g)]);
      const fields = (part.properties ?? {}) as Record<string, Record<string, unknown>>;
      for (const [, name = ""] of named)
        for (const [below, { type, "x-kubernetes-int-or-string": isEither }] of values(
          fields[name],
        ))
          expect(type ?? isEither, `${path}.${name}${below}`).toBeDefined();
    }
  },
);

it.each(schemas)("the definition of $kind has its rules as CEL", ({ kind, schema }) => {
  const rules = [...parts(schema)].flatMap(([, part]) =>
    ((part["x-kubernetes-validations"] ?? []) as { rule: string }[]).map(({ rule }) => rule),
  );
  const expected = {
    GatewayBackend:
      "[has(self.mcp), has(self.static), has(self.a2a), has(self.dynamicForwardProxy), has(self.ai), has(self.aws)].filter(each, each).size() == 1",
    GatewayModel: "[has(self.provider), has(self.virtualModel)].filter(each, each).size() == 1",
    GatewayPolicy:
      "[has(self.targetRefs), has(self.targetSelectors)].filter(each, each).size() == 1",
    GatewayParameters: "self.min <= self.max",
  }[kind];
  expect(rules).toContain(expected);
});

/** Half of the limit of API servers: the cost of a rule is about half of its characters. */
const MAX_COST = 100_000_000;

it.each(schemas)(
  "the rules of the definition of $kind are cheap enough for API servers",
  ({ schema }) => {
    const costOf = (part: Record<string, unknown>, places: number): number => {
      if (Object.keys(part).length === 0) return 0;
      const validations = (part["x-kubernetes-validations"] ?? []) as { rule: string }[];
      const own = validations.reduce((sum, { rule }) => sum + rule.length * places, 0);
      const below = Object.values(
        (part.properties ?? {}) as Record<string, Record<string, unknown>>,
      );
      const {
        items,
        additionalProperties: entries,
        maxItems = 1_000,
        maxProperties = 1_000,
      } = part;
      const inList = typeof items === "object" && items !== null ? { ...items } : {};
      const inMap = typeof entries === "object" && entries !== null ? { ...entries } : {};
      return (
        below.reduce((sum, each) => sum + costOf(each, places), own) +
        costOf(inList, places * Number(maxItems)) +
        costOf(inMap, places * Number(maxProperties))
      );
    };
    expect(costOf({ ...schema }, 1)).toBeLessThan(MAX_COST);
  },
);

it("the schema of a kind is good for editors: unknown fields are mistakes", () => {
  const { $schema: _, ...shape } = kindSchema("HTTPRoute") ?? {};
  const validate = new Ajv({ strict: false, allErrors: true }).compile(shape);
  const route = (spec: object) => ({ apiVersion: "a", kind: "b", metadata: { name: "c" }, spec });
  expect(validate(route({ parentRefs: [{ name: "gw" }] }))).toBe(true);
  expect(validate(route({ parentRef: [{ name: "gw" }] }))).toBe(false);
});

it("kubectl shows the status of an object", () => {
  expect(schemas.map(({ columns }) => columns.map(({ name }) => name))).toEqual([
    ["Accepted", "Age"],
    ["Accepted", "ResolvedRefs", "Age"],
    ["Accepted", "Attached", "Age"],
    ["Age"],
  ]);
  const lists = schemas.flatMap(({ schema }) =>
    [...parts(schema)].filter(([, part]) => "items" in part),
  );
  for (const [path, part] of lists) {
    const isCondition = path.endsWith(".conditions");
    expect([path, part["x-kubernetes-list-type"]]).toEqual([path, isCondition ? "map" : "atomic"]);
  }
  expect(lists.some(([path]) => path.endsWith(".conditions"))).toBe(true);
});

describe("the printed definitions", () => {
  it.each(["1.1", "1.2"] as const)("mean the same to readers of YAML %s", async (version) => {
    const documents = parseAllDocuments(await definitionsText(), { version });
    const read = documents.map((each): unknown => each.toJS({ maxAliasCount: -1 }));
    expect(read).toEqual(JSON.parse(JSON.stringify(customResourceDefinitions())));
  });

  it("mean the same to kubectl, which reads `Off` without quotes as a boolean", async () => {
    const argv = ["annotate", "--local", "-f", "-", "read=true", "-o", "jsonpath={.spec}{'\\n'}"];
    const input = await definitionsText();
    const read = (await runTool(program("kubectl"), argv, input)).trim().split("\n");
    const specs = customResourceDefinitions().map(({ spec }): unknown =>
      JSON.parse(JSON.stringify(spec)),
    );
    expect(read.map((each): unknown => JSON.parse(each))).toEqual(specs);
  });

  it("have each part of several lines once", async () => {
    for (const text of (await definitionsText()).split("---\n")) {
      const found = new Map<string, number>();
      visit(parseDocument(text), {
        Collection(_, node) {
          const part = JSON.stringify(node);
          if (!node.flow) found.set(part, (found.get(part) ?? 0) + 1);
        },
      });
      expect([...found].filter(([, count]) => count > 1)).toEqual([]);
    }
  });
});
