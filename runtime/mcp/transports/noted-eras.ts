import { type Exchange, logFields } from "../../http/exchange.ts";
import type { TargetEraName } from "./target-era.ts";

/** Logs the era that the client of a request speaks. */
export function noteClientEra({ record }: Exchange, era: TargetEraName): void {
  logFields(record).set("mcp.era", era);
}

/** Logs the era that a target of a request is called in; `both` if a request goes to targets of both eras. */
export function noteTargetEra({ record }: Exchange, era: TargetEraName): void {
  const fields = logFields(record);
  const noted = fields.get("mcp.target.era");
  fields.set("mcp.target.era", noted === undefined || noted === era ? era : "both");
}
