import { writeFileSync } from "node:fs";
import { LOOKALIKES_FILE, lookalikesText } from "./lookalikes-text.ts";

writeFileSync(LOOKALIKES_FILE, lookalikesText());
