import { expect, it } from "vitest";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import type { ConfigValue } from "../../compiler/schema/config-values.ts";
import { choice, either, integer, object } from "../../compiler/schema/schema.ts";
import { validator } from "../../compiler/schema/validate.ts";

const mode = either(
  choice("What happens.", ["deny", "allow", "v1.5"]),
  object({ status: integer("The status.", 200, 599) }),
);

function check(value: ConfigValue) {
  const diagnostics = new Diagnostics();
  const read = { value: { mode: value }, envTemplates: [], expanded: [] };
  const { parts } = validator(object({ mode }, { hasParts: true }), [read.value], "the file");
  const found = parts(read, { file: "gateway.yaml", document: 0, path: [] }, diagnostics).value;
  // The row and the parameters belong to the same code.
  const told = diagnostics.list.map(({ code, params }) => messageOf(code).text(params as never));
  return { found, told };
}

it("a mapping instead of a word is accepted, and not compared with the words", () => {
  expect(check({ status: 503 })).toEqual({ found: { mode: { status: 503 } }, told: [] });
  expect(check("allow")).toEqual({ found: { mode: "allow" }, told: [] });
});

it("an unknown word is reported where a mapping is possible, too", () => {
  const told = ['"mode" must be "deny", "allow" or "v1.5"'];
  expect(check("refuse")).toEqual({ found: {}, told });
  expect(check("v1x5")).toEqual({ found: {}, told });
});
