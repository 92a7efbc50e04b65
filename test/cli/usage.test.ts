import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commands } from "../../compiler/commands/commands.ts";
import { gwc, installedGwc } from "../harness/gwc.ts";

describe("the command line", () => {
  it("help lists every command, and each command has help of its own", async () => {
    const { code, stdout, stderr } = installedGwc(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { name } of commands) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    const command = await gwc(["build", "--help"]);
    expect(command.stdout).toContain("Usage: gwc build [OPTIONS] [FILES..]");
    expect((await gwc(["help", "build"])).stdout).toBe(command.stdout);
  });

  it.each(["", ...commands.map(({ name }) => name)])(
    "gwc %s --help fits 80 columns",
    async (name) => {
      const { stdout } = await gwc([...(name === "" ? [] : [name]), "--help"]);
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it("help loads no command, and a command only what it needs", () => {
    // Names of modules, each with its text: it says which packages' modules were gathered in it.
    const loaded = (verb: string) => {
      const { stderr } = installedGwc([verb], { env: { NODE_DEBUG: "esm" } });
      const modules = new Set(stderr.match(/(?<=')file:[^']*\.js(?=')/g));
      return [...modules].map((url) => `${url}\n${readFileSync(new URL(url), "utf8")}`).join("\n");
    };
    expect(loaded("--help")).toMatch(/compiler\/cli\.js/);
    expect(loaded("--help")).not.toMatch(/compiler\/(build|check|version)-\w+\.js/);
    expect(loaded("version")).toMatch(/compiler\/version-\w+\.js/);
    expect(loaded("version")).not.toMatch(/node_modules\/(ajv|yaml)\//);
    expect(loaded("check")).toMatch(/node_modules\/yaml\//);
  });

  it("an expression may begin with a minus", async () => {
    const { code, stdout } = await gwc(["eval", "-7 / 2"]);
    expect([code, stdout.split("\n")[0]]).toEqual([0, "-3"]);
  });

  it("without a command the help goes to stderr, and that is a usage error", () => {
    const { code, stdout, stderr } = installedGwc([]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: gwc COMMAND");
  });

  it("every command that reads configurations takes a file with -f", async () => {
    const readers = commands.filter(({ positionals }) => positionals.includes("FILE"));
    const others = readers.map(async ({ name, load }) => {
      const { options } = await load();
      return options.some(({ short }) => short === "f") ? [] : [name];
    });
    // These take other files: an output to compare with, and a file to write.
    expect((await Promise.all(others)).flat()).toEqual(["verify", "init"]);
    const file = await gwc(["check", "-f", "a.yaml", "-f", "b.yaml"]);
    const without = await gwc(["check", "a.yaml", "b.yaml"]);
    expect(file).toEqual(without);
  });

  it("the version is there for people and for programs", async () => {
    expect(installedGwc(["--version"]).stdout).toMatch(/^gwc \d+\.\d+\.\d+\n$/);
    const facts: unknown = JSON.parse((await gwc(["--version", "--format", "json"])).stdout);
    expect(facts).toEqual({ gwc: expect.any(String), node: process.versions.node });
  });

  it.each([
    [["biuld", "a.yaml"], 'unknown command "biuld"', "did you mean `gwc build`?"],
    [["a.yaml"], 'unknown command "a.yaml"', "did you mean `gwc run -f a.yaml`?"],
    [["check", "--frmat", "json", "a.yaml"], "unknown option --frmat", "did you mean --format?"],
    [["check", "a.yaml", "--format", "jsn"], `--format can't be "jsn"`, "did you mean json?"],
    [["check", "a.yaml", "--format"], "--format needs a FORMAT", "`gwc check --help`"],
    [["check", "--strict=yes", "a.yaml"], "--strict takes no value", "`gwc check --help`"],
    [["status"], "an argument is missing: `gwc status FILES..`", "`gwc status --help`"],
    [["completion"], "an argument is missing: `gwc completion SHELL`", "`gwc completion --help`"],
    [["schema", "more"], 'unexpected argument "more"', "`gwc schema --help`"],
    [
      ["explain", "unknown-feld"],
      'unknown field, policy, backend or code "unknown-feld"',
      "did you mean",
    ],
  ])("%j is a usage error with a hint", async (argv, problem, hint) => {
    const { code, stdout, stderr } = await gwc(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`error: `);
    expect(stderr).toContain(problem);
    expect(stderr).toContain(hint);
  });
});

describe("explain and schema", () => {
  it("a code is explained in the form of messages", async () => {
    const { stdout } = installedGwc(["explain", "error[unknown-field]"]);
    expect(stdout).toMatch(/^error\[unknown-field\]\n\ngwc rejects unknown keys/);
    expect((await gwc(["explain", "unknown-field"])).stdout).toBe(stdout);
  });

  it("a star in an explanation stays", async () => {
    expect((await gwc(["explain", "open-credentials"])).stdout).toContain("allowOrigins * and");
  });

  it("a kind of backend is explained with its fields", async () => {
    const { code, stdout } = await gwc(["explain", "dynamic"]);
    expect(code).toBe(0);
    expect(stdout).toContain("`dynamicForwardProxy`".replaceAll("`", ""));
    expect(stdout).toMatch(/^\s*allowPrivate\s+list of /m);
    expect((await gwc(["explain"])).stdout).toMatch(/^Backends\n\n( {2}\w+ .*\n)+/m);
  });

  it("a field is explained by its path or its end, with type, default, limits, an example and its places", async () => {
    const { stdout } = await gwc(["explain", "config.statsAddr"]);
    expect(stdout).toMatch(/^ {2}Type +address$/m);
    expect(stdout).toMatch(/^ {2}Default +:15020$/m);
    expect(stdout).toContain("    statsAddr: :15020\n");
    expect(stdout).toContain("gateway.yaml: config.statsAddr");
    expect((await gwc(["explain", "statsAddr"])).stdout).toBe(stdout);
    expect((await gwc(["explain", "binds[0].port"])).stdout).toMatch(
      /Limits +at least 1, at most 65535/,
    );
    expect((await gwc(["explain", "config.hbone"])).stdout).toContain("Not supported yet");
    expect((await gwc(["explain", "GatewayPolicy.spec.traffic.cors"])).stdout).toContain(
      "allowOrigins",
    );
    expect((await gwc(["explain", "matches"])).stdout).toContain("HTTPRoute.spec.rules[].matches");
    expect((await gwc(["explain", "requestTimout"])).stderr).toContain(
      'did you mean "requestTimeout"?',
    );
    expect((await gwc(["explain"])).stdout).not.toContain("`");
  });

  it("a policy is explained with its fields and its place in the request order", async () => {
    const { stdout } = await gwc(["explain", "cors"]);
    expect(stdout).toContain("It is number 1 of");
    expect(stdout).toContain(
      "  allowOrigins      list of strings  Required. Origins whose pages may read",
    );
  });

  it("without a word all codes and policies are listed", async () => {
    const { code, stdout } = await gwc(["explain"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}jwtAuth /m);
    expect(stdout).toMatch(/^ {2}yaml-syntax +error$/m);
  });
});

describe("gwc eval", () => {
  const claims = ["--data", '{"jwt": {"sub": "ada"}}'];

  it("gives the value of an expression on data of the user", () => {
    expect(installedGwc(["eval", 'jwt.sub == "ada"', ...claims])).toEqual({
      code: 0,
      stdout: "true\ntype: bool\n",
      stderr: "",
    });
  });

  it.each([
    ['{"sub": jwt.sub}', 0, { value: { sub: "ada" }, type: "map(string, dyn)" }],
    ["b'abc'", 0, { value: "YWJj", type: "bytes" }],
    ["9007199254740993", 0, { value: "9007199254740993", type: "int" }],
    ['duration("90s")', 0, { value: "90s", type: "duration" }],
    ["jwt.name", 1, { error: expect.stringContaining("the evaluation failed") }],
    ["1 + 2u", 1, { error: expect.stringMatching(/^cel-no-overload: /) }],
  ])("as JSON, %s is one object", async (expression, code, object) => {
    const result = await gwc(["eval", expression, "--format", "json", ...claims]);
    expect([result.code, JSON.parse(result.stdout)]).toEqual([code, object]);
  });

  it("shows the TypeScript that the expression becomes", async () => {
    const { stdout } = await gwc(["eval", 'jwt.sub.startsWith("a")', "--emit", ...claims]);
    expect(stdout).toContain('// jwt.sub.startsWith("a")\n');
    expect(stdout).toMatch(/true\ntype: bool\n$/);
  });

  it("an absent claim is an error of the evaluation, a mistake has a place and a hint", async () => {
    const absent = await gwc(["eval", "jwt.name", ...claims]);
    expect([absent.code, absent.stdout]).toEqual([1, ""]);
    expect(absent.stderr).toBe(
      "error: the evaluation failed: a value is absent or has another type\n",
    );
    expect((await gwc(["eval", "jwt.name"])).stderr).toContain("hint: give the variables: -d ");
    const mistake = await gwc(["eval", "jwts.sub"]);
    expect(mistake.code).toBe(1);
    expect(mistake.stderr).toContain(
      'error[cel-unknown-variable]: "jwts" is not a variable here\n --> expression:1:1\n',
    );
    expect(mistake.stderr).toContain('hint: did you mean "jwt"?');
  });

  it("data that is no JSON is not quoted back", async () => {
    const { code, stderr } = await gwc(["eval", "true", "--data", "{hunter2"]);
    expect([code, stderr]).toEqual([1, "error: the data is not valid JSON\n"]);
  });
});
