import { expect, it } from "vitest";
import { installedGwc } from "../harness/gwc.ts";
import { Workspace } from "../harness/workspace.ts";

/** Parts of a gateway whose differences open or close access without a rule being another one. */
interface Parts {
  readonly listener?: object;
  readonly route?: object;
  readonly policies?: object;
}

const BACKEND = { backends: [{ host: "127.0.0.1:9000" }] };

function gateway({ listener = {}, route = BACKEND, policies = {} }: Parts): string {
  return JSON.stringify({
    binds: [{ port: 3000, listeners: [{ ...listener, routes: [{ ...route, policies }] }] }],
  });
}

function compare(before: Parts, after: Parts) {
  const { folder } = new Workspace({ "old.yaml": gateway(before), "new.yaml": gateway(after) });
  const { code, stdout } = installedGwc(["diff", "old.yaml", "new.yaml", "--exit-code"], {
    cwd: folder,
  });
  return { code, stdout };
}

const closed = { policies: { directResponse: { status: 403 } } };
const response = { policies: { directResponse: { status: 200, body: "soon" } } };
const unavailable = { policies: { directResponse: { status: 503 } } };
const redirect = { policies: { requestRedirect: { authority: { full: "b.test" } } } };
const some = (...conditions: readonly string[]) => ({
  policies: {
    directResponse: { conditional: conditions.map((condition) => ({ condition, status: 403 })) },
  },
});
const isDelete = 'request.method == "DELETE"';
const isPut = 'request.method == "PUT"';
const noAdmin = { authorization: { rules: [{ deny: 'request.path == "/admin"' }] } };
const noRole = { authorization: { rules: [{ allow: 'request.headers["x-role"] == "admin"' }] } };
const sets = (value: string) => ({
  listener: { policies: { requestHeaderModifier: { set: { "x-role": value } } } },
  policies: noRole,
});
const shares = (origin: string) => ({
  policies: { responseHeaderModifier: { set: { "access-control-allow-origin": origin } } },
});
const paths = (pathHandling: string) => ({ listener: { pathHandling }, policies: noAdmin });
const csrf = (...additionalOrigins: readonly string[]) => ({
  policies: { csrf: additionalOrigins.length === 0 ? {} : { additionalOrigins } },
});

it.each<readonly [string, Parts, Parts]>([
  ["a response that refuses is removed", closed, {}],
  ["a response that refuses on the listener is removed", { listener: closed }, {}],
  ["a response that refuses for a time is removed", unavailable, {}],
  ["a response that refuses becomes another response", closed, response],
  ["a response that refuses becomes a redirect", closed, redirect],
  ["a response that keeps requests from the backend is removed", response, {}],
  ["a redirect that keeps requests from the backend is removed", redirect, {}],
  ["a refusal under a condition is removed", some(isDelete), {}],
  ["one of two refusals under conditions is removed", some(isDelete, isPut), some(isDelete)],
  ["a refusal has another condition", some(isDelete), some(isPut)],
  ["paths are forwarded as sent", paths("canonical"), paths("verbatim")],
  ["protection against other sites' pages is removed", csrf(), {}],
  ["an origin may send requests", csrf("https://a.test"), csrf("https://a.test", "https://b.test")],
  ["responses are for every origin", {}, shares("*")],
  ["responses are for another origin", shares("https://a.test"), shares("*")],
  ["a header that a rule reads is set to another value", sets("guest"), sets("admin")],
  ["a header that a rule reads is not set any more", sets("guest"), { policies: noRole }],
])("gwc diff ends with 5 when %s", (_, before, after) => {
  const { code, stdout } = compare(before, after);
  expect(stdout).toMatch(/OPEN|not decided|UNDECIDED/);
  expect(code).toBe(5);
});

it.each<readonly [string, Parts, Parts]>([
  ["a response that refuses is added", {}, closed],
  ["a response becomes one that refuses", response, closed],
  ["a response comes before the backend", {}, response],
  ["a redirect comes before the backend", {}, redirect],
  ["a refusal under a condition is added", some(isDelete), some(isDelete, isPut)],
  ["paths are forwarded in canonical form", paths("verbatim"), paths("canonical")],
  ["responses are for no origin any more", shares("*"), {}],
])("gwc diff ends with 4 and says CLOSES when %s", (_, before, after) => {
  const { code, stdout } = compare(before, after);
  expect(stdout.split("\n")[0]).toMatch(/CLOSE/);
  expect(code).toBe(4);
});

it("gwc diff ends with 4 when a refusal has another status", () => {
  const { code, stdout } = compare(closed, unavailable);
  expect(stdout).toMatch(/^1 difference: 1 CHANGES/);
  expect(code).toBe(4);
});
