import { backendPages } from "./backends.ts";
import { diagnosticPages } from "./diagnostics.ts";
import { expressionsPage } from "./expressions.ts";
import { markdownDocument } from "./markdown.ts";
import { metricsPage } from "./metrics.ts";
import { policyPages } from "./policies.ts";

/** A document of the reference: file name and Markdown. */
export interface ReferenceDocument {
  readonly file: string;
  readonly text: string;
}

/** Returns the reference as documents, from the same generated pages that `gwc explain` prints. */
export function referenceDocuments(): readonly ReferenceDocument[] {
  return [
    { file: "policies.md", text: markdownDocument(policyPages()) },
    { file: "backends.md", text: markdownDocument(backendPages()) },
    { file: "expressions.md", text: markdownDocument([expressionsPage()]) },
    { file: "metrics.md", text: markdownDocument([metricsPage()]) },
    { file: "diagnostics.md", text: markdownDocument(diagnosticPages()) },
  ];
}
