import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";
import { record } from "./record.ts";
import { terminalSvg } from "./terminal-svg.ts";

const file = path.join(root, ".github/demo.svg");
const title = "A terminal in which gwc checks, builds, compares and reloads a configuration";

it("the picture in README shows what the commands print", async () => {
  const picture = terminalSvg(await record(), title);
  if (process.env.GWC_UPDATE_PICTURE === "1") writeFileSync(file, picture);
  // Sizes change with the runtime.
  const stable = (text: string) => text.replaceAll(/\d+/g, "0");
  expect(stable(readFileSync(file, "utf8"))).toBe(stable(picture));
});
