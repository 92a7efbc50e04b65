import { expect, it } from "vitest";
import { bundle } from "../harness/bundle.ts";
import { startGateway } from "../harness/gateway.ts";
import { gwc } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Characters that are not seen, or that reorder what is seen. */
const HIDDEN = [
  "\u202e",
  "\u2066",
  "\u200b",
  "\u00ad",
  "\ufeff",
  "\u2028",
  "\u{e0041}",
  "\u180e",
  "\u009b",
];

const rule = `request.path == "/${HIDDEN.join("x")}"`;
const name = `a${HIDDEN.join("")}b`;
const routes = [
  {
    name,
    matches: [{ path: { exact: "/a" }, headers: [{ name: "x-a", value: { exact: name } }] }],
    policies: { authorization: { rules: [rule] }, directResponse: { status: 200, body: name } },
  },
];

/** The hidden characters that a text has. */
const hiddenIn = (text: string) => HIDDEN.filter((each) => text.includes(each));

it("no file of a build has a character that is not seen", async () => {
  const files = await bundle({ config: { binds: [{ port: 3000, listeners: [{ routes }] }] } });
  const raw = files.filter(({ text }) => hiddenIn(text).length > 0);
  expect(raw.map(({ path }) => path)).toEqual([]);
  expect(files.map(({ path }) => path)).toContain("manifest.json");
});

it("texts mean the same as before in the bundle", async () => {
  const gateway = await startGateway({
    listeners: [{ routes: [{ policies: { directResponse: { status: 200, body: name } } }] }],
  });
  expect((await send(gateway.url, "GET")).body).toBe(name);
});

it("neither reports nor terminals get a character that is not seen, or a command", async () => {
  const config = { binds: [{ port: 3000, listeners: [{ routes, [`\u001b[8m${name}`]: 1 }] }] };
  const folder = temporaryFolder({ "gateway.yaml": JSON.stringify(config) });
  for (const format of ["text", "json", "github", "sarif", "junit"]) {
    const { stdout, stderr } = await gwc(["check", `${folder}/gateway.yaml`, "--format", format]);
    const printed = `${stdout}${stderr}`;
    expect(printed).toMatch(/\\u\{?202e/);
    expect(hiddenIn(printed), format).toEqual([]);
    expect(printed).not.toContain("\u001b[8m");
    if (format === "json") expect(() => JSON.parse(stdout ?? "")).not.toThrow();
  }
});
