import { describe, expect, it } from "vitest";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { exampleOf } from "../../compiler/inspect/reference/example.ts";
import { allFields } from "../../compiler/inspect/reference/field-index.ts";
import { fieldPage } from "../../compiler/inspect/reference/field-page.ts";
import type { ConfigValue } from "../../compiler/schema/config-values.ts";
import { validator } from "../../compiler/schema/validate.ts";

const fields = allFields();
const built = fields.filter(
  ({ path, schema }) =>
    path.length > 0 && schema.unsupported === undefined && schema.misplaced === undefined,
);
const pathOf = ({ form, path }: (typeof fields)[number]) => `${form}: ${path.join(".")}`;

describe("every field is explained", () => {
  it("each field of both forms says what it is", () => {
    const silent = built.filter(({ schema }) => (schema.description ?? "") === "");
    expect(silent.map(pathOf)).toEqual([]);
  });

  it("the example of a field is one that the field takes", () => {
    // A field that occurs in several places has one schema.
    const schemas = new Map(built.map((field) => [field.schema, field]));
    const wrong = [...schemas.values()].flatMap((field) => {
      const diagnostics = new Diagnostics();
      // An example is plain data.
      const value = exampleOf(field.schema) as ConfigValue;
      const read = { value, envTemplates: [], expanded: [] };
      const origin = { file: "example.yaml", document: 0, path: [] };
      validator(field.schema, [value], "it").whole(read, origin, diagnostics);
      return diagnostics.list.map(({ code, params }) => [pathOf(field), value, code, params]);
    });
    expect(wrong).toEqual([]);
  });

  it("each path, and each name alone, has a page", () => {
    const names = new Set(
      built
        .map(({ path }) => path.at(-1)?.replace(/(\[\])+$/, "") ?? "")
        // Keys of annotations contain dots, which separate fields in paths.
        .filter((name) => name !== "*" && !name.includes("/")),
    );
    expect([...names].filter((name) => fieldPage(name, fields) === undefined)).toEqual([]);
    expect(fieldPage("binds[0].port", fields)?.title).toBe("binds[].port");
    expect(fieldPage("GatewayPolicy.spec.traffic.cors", fields)?.title).toBe("traffic.cors");
    expect(fieldPage("no-such-field", fields)).toBeUndefined();
  });

  it("each field of a section with names of the user has a page, with any name and without one", () => {
    for (const words of ["gateways.default.port", "gateways.NAME.port", "gateways.port"])
      expect(fieldPage(words, fields)?.title).toBe("gateways.port");
    expect(fieldPage("gateways.default", fields)?.title).toBe("gateways");
    expect(JSON.stringify(fieldPage("gateways", fields)?.parts)).toContain("NAME.listeners[].tls");
    expect(fieldPage("gateways.default.no-such-field", fields)).toBeUndefined();
  });
});
