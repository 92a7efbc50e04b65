import { beforeAll, expect, it } from "vitest";
import { type Gateway, startGateway } from "../../harness/gateway.ts";
import { startScripted } from "../../harness/scripted.ts";
import { send } from "../../harness/send.ts";

let gateway: Gateway;

const under = (pathPrefix: string) => [{ path: { pathPrefix } }];
const team = (value: string) => ({
  requestHeaderModifier: { set: { "x-team": value } },
});

const noUser = (name: string) => ({
  deny: `"x-user" in request.headers && request.headers["x-user"] == "${name}"`,
});

beforeAll(async () => {
  const [foo, bar, rest] = await Promise.all(
    ["foo", "bar", "rest"].map((name) =>
      startScripted((response, _, { headers }) => response.end(`${name} ${headers["x-team"]}`)),
    ),
  );
  const to = (server: typeof foo) => [{ host: server?.host }];
  gateway = await startGateway({
    file: {
      routeGroups: [
        {
          name: "team1-routes",
          routes: [
            { name: "foo", matches: under("/team1/foo"), backends: to(foo) },
            {
              name: "bar",
              matches: [
                { path: { exact: "/team1/bar" }, method: "POST" },
                { path: { pathPrefix: "/team1/foo/bar" } },
              ],
              policies: {
                ...team("bar"),
                authorization: { rules: [noUser("eve")] },
              },
              backends: to(bar),
            },
            { matches: under("/team1/deep"), backends: [{ routeGroup: "deep" }] },
          ],
        },
        {
          name: "deep",
          routes: [
            { matches: under("/team1/deep/er"), policies: team("deep"), backends: to(foo) },
            {
              matches: [{ headers: [{ name: "x-any", value: { exact: "yes" } }] }],
              backends: to(bar),
            },
          ],
        },
      ],
    },
    listeners: [
      {
        routes: [
          {
            name: "team1",
            matches: under("/team1"),
            policies: {
              ...team("one"),
              authorization: { rules: [noUser("mallory")] },
            },
            backends: [{ routeGroup: "team1-routes" }],
          },
          { name: "rest", backends: to(rest) },
        ],
      },
    ],
  });
});

async function ask(path: string, method = "GET", headers: Record<string, string> = {}) {
  const { status, body } = await send(`${gateway.url}${path}`, method, headers);
  return status === 200 ? body : status;
}

it("the routes of a group answer what the route before them got, with what it says", async () => {
  expect(await ask("/team1/foo/x")).toBe("foo one");
  expect(await ask("/other")).toBe("rest undefined");
});

it("the most specific route of a group answers, and its own policies stand for those of the same kind", async () => {
  expect(await ask("/team1/foo/bar")).toBe("bar bar");
  expect(await ask("/team1/bar", "POST")).toBe("bar bar");
});

it("rules of both have to let a request pass", async () => {
  expect(await ask("/team1/foo", "GET", { "x-user": "mallory" })).toBe(403);
  expect(await ask("/team1/foo", "GET", { "x-user": "eve" })).toBe("foo one");
  for (const user of ["mallory", "eve"]) {
    expect(await ask("/team1/foo/bar", "GET", { "x-user": user })).toBe(403);
  }
});

it("what no route of the group answers is refused, although another route would match", async () => {
  expect(await ask("/team1")).toBe(404);
  expect(await ask("/team1/bar")).toBe(404);
  expect(await ask("/team1/foobar")).toBe(404);
});

it("groups may delegate to groups", async () => {
  expect(await ask("/team1/deep/er")).toBe("foo deep");
  expect(await ask("/team1/deep", "GET", { "x-any": "yes" })).toBe("bar one");
  expect(await ask("/team1/deep", "GET", { "x-any": "yes", "x-user": "mallory" })).toBe(403);
  expect(await ask("/team1/deep")).toBe(404);
});
