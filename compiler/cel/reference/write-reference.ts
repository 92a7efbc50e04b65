import { writeFileSync } from "node:fs";
import { celReference } from "./reference.ts";

if (import.meta.main) {
  writeFileSync(new URL("REFERENCE.md", import.meta.url), celReference());
}
