import { type Exchange, logFields } from "../../http/exchange.ts";
import type { TargetEraName } from "./target-era.ts";

/** Notes what the client of a request speaks. */
export function noteClientEra({ record }: Exchange, era: TargetEraName): void {
  logFields(record).set("mcp.era", era);
}

/** Notes what a target of a request is spoken to in; a request that goes to targets of both eras says so. */
export function noteTargetEra({ record }: Exchange, era: TargetEraName): void {
  const fields = logFields(record);
  const noted = fields.get("mcp.target.era");
  fields.set("mcp.target.era", noted === undefined || noted === era ? era : "both");
}
