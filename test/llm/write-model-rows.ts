import { writeFileSync } from "node:fs";
import {
  MODEL_ROWS_FILE,
  modelRowsText,
  modelSources,
  VENDOR_PRICES_FILE,
  vendorPricesText,
} from "./model-rows-text.ts";

const sources = await modelSources();
if (sources === undefined) throw new Error("npm ci installs the packages that this needs");
const rows = modelRowsText(sources);
writeFileSync(MODEL_ROWS_FILE, rows);
writeFileSync(VENDOR_PRICES_FILE, vendorPricesText(rows));
