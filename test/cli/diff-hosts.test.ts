import { expect, it } from "vitest";
import { installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

/** A comparison that does not end is killed, and has no exit code then. */
const timeout = 300_000;

/** Returns a gateway with a route for some hostnames; for all if `undefined`. */
function gateway(hostnames: readonly string[] | undefined, status = 200): string {
  const route = { ...(hostnames && { hostnames }), policies: { directResponse: { status } } };
  return JSON.stringify({ binds: [{ port: 3000, listeners: [{ routes: [route] }] }] });
}

function compare(before: string, after: string) {
  const { folder } = new Workspace({ "old.yaml": before, "new.yaml": after });
  return installedGwc(["diff", "old.yaml", "new.yaml", "--exit-code"], { cwd: folder, timeout });
}

it.each([
  [["*.test"]],
  [["*.test", "other.test", "*.example", "*.invalid", "other.other2", "*.other3"]],
  [["*.a.test", "*.b.a.test", "other.a.test", "other2.a.test"]],
])("a gateway with the hostnames %j is equal to its copy", { timeout }, (hostnames) => {
  const text = gateway(hostnames);
  expect(compare(text, text)).toEqual({
    code: 0,
    stdout: "no request is treated differently\n",
    stderr: "",
  });
});

it.each([
  [["a.test"], ["*.test"], "GET //other.test/"],
  [["*.test"], undefined, "GET //other.example/"],
  [["*.test", "*.example", "*.invalid"], undefined, "GET //other.other2/"],
])("more hosts are served when %j becomes %j", { timeout }, (before, after, example) => {
  const { code, stdout } = compare(gateway(before), gateway(after));
  expect(code).toBe(5);
  expect(stdout.split("\n")[0]).toMatch(/^1 difference: 1 OPENS: route .*404 -> served/);
  expect(stdout).toContain(example);
});
