import { removeCompiled } from "./compiled.ts";

// `npm pack` runs this last.
removeCompiled();
