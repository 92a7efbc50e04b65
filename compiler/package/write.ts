import { writeCompiled } from "./compiled.ts";

// `npm pack` runs this first.
await writeCompiled();
