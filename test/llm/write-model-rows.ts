import { writeFileSync } from "node:fs";
import { MODEL_ROWS_FILE, modelRowsText, modelSources } from "./model-rows-text.ts";

const sources = await modelSources();
if (sources === undefined) throw new Error("npm ci installs the packages that this needs");
writeFileSync(MODEL_ROWS_FILE, modelRowsText(sources));
