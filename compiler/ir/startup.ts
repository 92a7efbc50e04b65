import type { Origin } from "../diagnostics/diagnostic.ts";
import type { MountedFile } from "../model/texts.ts";

/** A variable or file that the gateway reads when it starts. */
export type StartupNode = (
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly file: MountedFile }
) & {
  /** Place of the nearest enclosing part that has one. */
  readonly origin: Origin;
};
