import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const config = {
  name: "shop",
  binds: [
    {
      port: 3000,
      listeners: [
        {
          routes: [{ policies: { apiKey: { store: true }, directResponse: { status: 200 } } }],
        },
      ],
    },
  ],
};

/** Returns `gwc keys` on a store of its own. */
function keysOf(files: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryFolder({ "gateway.yaml": JSON.stringify(config), ...files });
  const env = { GWC_STATE_DIR: temporaryFolder() };
  return (...argv: string[]) => gwc(["keys", ...argv], { cwd, env });
}

/** Returns the keys of a store as data. */
async function listed(keys: ReturnType<typeof keysOf>): Promise<unknown> {
  return JSON.parse((await keys("list", "--format", "json")).stdout);
}

describe("gwc keys", () => {
  it("prints a key once, alone on stdout", async () => {
    const keys = keysOf();
    const made = await keys("create", "ci");
    expect(made.stdout).toMatch(/^gwc_[\w-]{43}\n$/);
    const { stdout, stderr } = await keys("show", "ci");
    expect(stdout + stderr).not.toContain(made.stdout.trim());
    expect(stdout).toContain(`${made.stdout.slice(0, 8)}...`);
  });

  it("stores what the options say", async () => {
    const keys = keysOf();
    await keys(
      ...["create", "--name", "ci", "--metadata", "team=red,tier=gold", "--models", "fast, gpt-*"],
      ...["--rate", "10/second,100/day", "--tokens", "5000/hour", "--budget", "0.5/month"],
      ...["--expires", "2126-01-31"],
    );
    expect(await listed(keys)).toMatchObject([
      {
        name: "ci",
        metadata: { team: "red", tier: "gold" },
        models: ["fast", "gpt-*"],
        limits: [
          { counts: "requests", amount: 10, period: "second" },
          { counts: "requests", amount: 100, period: "day" },
          { counts: "tokens", amount: 5000, period: "hour" },
          { counts: "cost", amount: 0.5, period: "month" },
        ],
        expires: "2126-01-31T00:00:00Z",
      },
    ]);
  });

  it("changes only what the options of update name", async () => {
    const keys = keysOf();
    await keys("create", "ci", "--metadata", "team=red", "--models", "fast", "--rate", "1/day");
    await keys("update", "ci", "--models", "none", "--budget", "5/month");
    expect(await listed(keys)).toMatchObject([
      {
        metadata: { team: "red" },
        limits: [
          { counts: "requests", amount: 1, period: "day" },
          { counts: "cost", amount: 5, period: "month" },
        ],
        expires: null,
      },
    ]);
    expect(JSON.stringify(await listed(keys))).not.toContain("models");
  });

  it("keeps the old key of a rotation until its overlap is over, with the same restrictions", async () => {
    const keys = keysOf();
    const first = (await keys("create", "ci", "--models", "fast")).stdout;
    const second = (await keys("rotate", "ci", "--overlap", "1h")).stdout;
    expect(second).not.toBe(first);
    await keys("update", "ci", "--models", "slow", "--expires", "never");
    const [valid, old] = JSON.parse((await keys("list", "--format", "json")).stdout);
    expect(valid).toMatchObject({ isReplaced: false, models: ["slow"], expires: null });
    expect(old).toMatchObject({ isReplaced: true, models: ["slow"] });
    expect(Date.parse(old.expires)).toBeLessThan(Date.now() + 3_600_001);
    expect((await keys("revoke", "ci")).stderr).toBe('revoked 2 keys "ci"\n');
    expect(await listed(keys)).toEqual([]);
  });

  it("ends the old key of a rotation without an overlap", async () => {
    const keys = keysOf();
    await keys("create", "ci");
    await keys("rotate", "ci", "--overlap", "0");
    expect(await listed(keys)).toMatchObject([{ name: "ci", isReplaced: false }]);
  });

  it("notes keys without an expiry or a limit", async () => {
    const keys = keysOf();
    await keys("create", "ci", "--rate", "1/day");
    await keys("create", "other", "--expires", "1d");
    const { stderr } = await keys("list");
    expect(stderr).toBe("note: 1 key without an expiry\nnote: 1 key without a limit or a budget\n");
  });

  it.each([
    [["create", "ci", "--rate", "100"], "--rate needs AMOUNT/PERIOD"],
    [["create", "ci", "--rate", "1/week"], "--rate needs AMOUNT/PERIOD"],
    [["create", "ci", "--metadata", "team"], "--metadata needs NAME=VALUE"],
    [["create", "ci", "--metadata", "a=1,a=2"], '--metadata has "a" twice'],
    [["create", "ci", "--expires", "soon"], "--expires needs a duration"],
    [["create"], "`gwc keys create` needs a name"],
    [["list", "ci"], "`gwc keys list` takes no name"],
    [["destroy", "ci"], 'unknown action "destroy"'],
    [[], 'unknown action ""'],
    [["constructor"], 'unknown action "constructor"'],
  ])("refuses %j as a usage error", async (argv, problem) => {
    const { code, stderr, stdout } = await keysOf()(...argv);
    expect(stderr).toContain(problem);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it.each([
    [["create", "two words"], "a name has 1 to 128 letters"],
    [["create", "ci", "--metadata", "name=admin"], 'metadata cannot have "name"'],
    [["create", "ci", "--models", "a*b*"], 'at most one "*"'],
    [["create", "ci", "--rate", "0/day"], "a number above 0"],
    [["create", "ci", "--rate", "0.5/day"], "a whole number"],
    [["create", "ci", "--expires", "2020-01-01"], "the key has expired"],
    [["show", "ci"], 'there is no key with the name "ci"'],
    [["revoke", "ci"], 'there is no key with the name "ci"'],
    [["rotate", "ci"], 'there is no key with the name "ci"'],
    [["update", "ci", "--rate", "1/day"], 'there is no key with the name "ci"'],
  ])("refuses %j", async (argv, problem) => {
    const { code, stderr, stdout } = await keysOf()(...argv);
    expect(stderr).toContain(problem);
    expect([code, stdout]).toEqual([1, ""]);
  });

  it("makes no second key of the same name", async () => {
    const keys = keysOf();
    await keys("create", "ci");
    expect((await keys("create", "ci")).stderr).toBe('error: there is a key with the name "ci"\n');
  });

  it("keeps metadata with names of object members as data", async () => {
    const keys = keysOf();
    await keys("create", "ci", "--metadata", '{"__proto__":{"team":"admin"},"constructor":"a"}');
    const { stdout } = await keys("list", "--format", "json");
    expect(stdout).toContain('"constructor": "a"');
    expect(JSON.parse(stdout)[0].metadata.team).toBeUndefined();
  });
});

const digest = (key: string) => createHash("sha256").update(key).digest("hex");

describe("gwc keys import", () => {
  it("adopts keys of LiteLLM", async () => {
    const exported = {
      keys: [
        {
          token: digest("sk-one"),
          key_name: "sk-...one",
          key_alias: "team one",
          models: ["fast"],
          rpm_limit: 10,
          tpm_limit: 1000,
          max_budget: 5,
          budget_duration: "30d",
          team_id: "red",
          metadata: { tier: "gold" },
          expires: "2126-01-31T00:00:00Z",
        },
      ],
    };
    const keys = keysOf({ "keys.json": JSON.stringify(exported) });
    expect((await keys("import", "keys.json")).stderr).toContain("imported 1 of 1 keys");
    expect(await listed(keys)).toMatchObject([
      {
        name: "team-one",
        models: ["fast"],
        metadata: { team: "red", tier: "gold" },
        limits: [
          { counts: "requests", amount: 10, period: "minute" },
          { counts: "tokens", amount: 1000, period: "minute" },
          { counts: "cost", amount: 5, period: "month" },
        ],
        expires: "2126-01-31T00:00:00Z",
      },
    ]);
  });

  it.each([
    [{ blocked: true }, "is blocked"],
    [{ max_parallel_requests: 1 }, 'has "max_parallel_requests"'],
    [{ max_budget: 5 }, 'has a budget per "lifetime"'],
    [{ max_budget: 5, budget_duration: "7d" }, 'has a budget per "7d"'],
    [{ expires: "2020-01-01T00:00:00Z" }, "has expired"],
    [{ models: ["all-team-models"] }, 'has "all-team-models"'],
    [{ models: ["no-default-models"] }, "it may use no model"],
    [{ rpm_limit: 0 }, "has a limit of 0"],
    [{ token: "sk-plain" }, "has no SHA-256 digest"],
    [{ permissions: { a: true } }, 'has "permissions"'],
  ])("does not adopt a key with %j", async (row, problem) => {
    const text = JSON.stringify([{ token: digest("sk"), key_alias: "a", ...row }]);
    const keys = keysOf({ "keys.json": text });
    const { code, stderr } = await keys("import", "keys.json");

    expect(stderr).toContain(problem);
    expect(code).toBe(1);
    expect(await listed(keys)).toEqual([]);
  });

  it("refuses a file that has no keys", async () => {
    const keys = keysOf({ "keys.json": "{}" });
    expect((await keys("import", "keys.json")).stderr).toContain(
      "it is not JSON with a list of keys",
    );
  });
});
