import type { CallAdmission, Exchange } from "./exchange.ts";

/** Has a question asked when the request turns out to be for a model: requests for something else are not asked it. */
export function askBeforeCall({ record }: Exchange, admission: CallAdmission): void {
  record.callAdmissions ??= [];
  record.callAdmissions.push(admission);
}

/** Whether a call of a model may go out, as far as was asked before routing. False: the request was answered. */
export async function admitCall({ record }: Exchange): Promise<boolean> {
  for (const admission of record.callAdmissions ?? []) if (!(await admission())) return false;
  return true;
}
