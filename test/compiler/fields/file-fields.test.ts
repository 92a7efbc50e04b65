import { describe, expect, it } from "vitest";
import { standaloneSchema } from "../../../compiler/1-parse/standalone/standalone.ts";
import { type ConfigurationForm, silencedBy, verdictOf } from "./acting-fields.ts";
import { files, known, seeds } from "./file-cases.ts";
import { fileCompiler } from "./file-compiler.ts";
import { placed } from "./placed-field.ts";
import { leavesOf } from "./schema-walk.ts";

const schema = standaloneSchema();
const form: ConfigurationForm = { schema, known, seeds, compile: fileCompiler(files) };
/** What only others refer to. */
const NAME = "backends.[].name";
const fields = leavesOf(schema).filter(({ path }) => path.join(".") !== NAME);

describe("every field of a standalone file", () => {
  it("the configurations that fields are put into have no mistakes", () => {
    expect(seeds.flatMap((seed) => (form.compile(seed).text === undefined ? [seed] : []))).toEqual(
      [],
    );
  });

  it("decides something in the program", { timeout: 300_000 }, () => {
    expect(fields.length).toBeGreaterThan(500);
    const verdicts = fields.map((field) => [field.path.join("."), verdictOf(field, form)]);
    expect(verdicts.filter(([, verdict]) => verdict !== "acts")).toEqual([]);
  });

  it("says by its name what others mean, who miss it under another one", () => {
    const [seed] = seeds.filter((each) => JSON.stringify(each).includes('"name":"a"'));
    const renamed = form.compile(placed(schema, seed, NAME.split("."), "other", known));
    expect(renamed.diagnostics.map(({ code }) => code)).toEqual(["missing-reference"]);
  });

  it("is told when another one takes its meaning away", { timeout: 300_000 }, () => {
    const silent = fields.flatMap((field) =>
      silencedBy(field, form).map((other) => `${field.path.join(".")} beside ${other}`),
    );
    expect(silent).toEqual([]);
  });
});
