import { expect, it } from "vitest";
import { installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

function gateway(rules: readonly string[] | undefined): string {
  const policies = rules === undefined ? {} : { authorization: { rules } };
  const route = { name: "out", policies, backends: [{ dynamic: { connect: {} } }] };
  return JSON.stringify({ binds: [{ port: 3128, listeners: [{ routes: [route] }] }] });
}

function run(config: string, ...argv: readonly string[]) {
  const { folder } = new Workspace({ "gateway.yaml": config });
  return installedGwc(argv, { cwd: folder });
}

it("the host of a tunnel has its port in rules", () => {
  const [plain, whole] = ["api.test", "api.test:443"].map((host) =>
    run(gateway([`request.host == "${host}"`]), "can", "CONNECT", "api.test:443"),
  );
  expect(plain).toMatchObject({ code: 1, stderr: "" });
  expect(whole).toMatchObject({ code: 0, stderr: "" });
});

it("tunnels are opened to no other port than those of the backend", () => {
  const { code, stdout } = run(gateway(["true"]), "can", "CONNECT", "api.test:22");
  expect(code).toBe(1);
  expect(stdout).toContain("no tunnels to port 22: 403");
});

it("who may open a tunnel is said by the rules, and a URL is no tunnel", () => {
  const config = gateway(['request.host == "api.test:443" && request.headers["x-team"] == "blue"']);
  const who = run(config, "can", "--who", "CONNECT", "api.test:443");
  expect(who).toMatchObject({ code: 0, stderr: "" });
  expect(who.stdout).toContain('as CEL: request.headers["x-team"] == "blue"');
  const url = run(config, "can", "CONNECT", "https://api.test:443/");
  expect(url.code).toBe(2);
  expect(url.stderr).toContain("is not HOST:PORT: write `gwc can CONNECT host:443`");
});

it("the rule that open-proxy proposes holds for requests and tunnels to that host", () => {
  const { stdout, stderr } = run(gateway(undefined), "check", "gateway.yaml");
  const [, rule = ""] = /rules: \['(request\.host[^']*)'\]/.exec(stdout + stderr) ?? [];
  expect(rule).not.toBe("");
  const config = gateway([rule]);
  const asked = [
    ["CONNECT", "api.example.com:443"],
    ["GET", "http://api.example.com/"],
    ["CONNECT", "other.example.com:443"],
  ];
  expect(asked.map((argv) => run(config, "can", ...argv).code)).toEqual([0, 0, 1]);
});
