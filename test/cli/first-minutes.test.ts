import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";
import { firstMinutes } from "./first-minutes.ts";

it("the first minutes in an empty folder are as the reference shows them", async () => {
  const document = path.join(root, ".github", "reference", "first-minutes.md");
  // `npm run docs:first-minutes` writes it
  await expect(await firstMinutes()).toMatchFileSnapshot(document);
});
